import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type RunOptions, sandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';

const box = sandbox();

beforeAll(async () => {
  await box.run(['enqueue', '--id', 'taken', '--delay', '1h', 'echo original']);
  await box.run(['config', 'set', 'max-retries', '7']);
});
afterAll(() => box.cleanup());

/** The state after the previous test. It is undefined before the first test and after a failed one. */
let lastState: unknown;

/** Reads the counts, the jobs and the settings of the store. */
async function readState(): Promise<unknown> {
  return Promise.all([['status'], ['list'], ['config', 'list']].map((command) => box.json(command)));
}

type Row = [what: string, args: string[], code: number, message: RegExp, options?: RunOptions];

// asJson and asFlags return the arguments that enqueue a job with these fields or flags.
const asJson = (fields: object): string[] => ['enqueue', JSON.stringify({ command: 'true', ...fields })];
const asFlags = (...flags: string[]): string[] => ['enqueue', ...flags, 'true'];
const LONG_COMMAND = `echo ${'x'.repeat(1_000_000)}`;

const JOB_ROWS: Row[] = [
  ['malformed JSON', ['enqueue', '{"command": "echo'], 2, /not valid JSON/],
  ['JSON followed by other text', ['enqueue', '{"command":"true"} x'], 2, /not valid JSON/],
  ['shell text that begins like JSON', ['enqueue', '[ -e x ] && true'], 2, /not valid JSON/],
  ['an empty array', ['enqueue', '[]'], 2, /no job/],
  ['[null]', ['enqueue', '[null]'], 2, /job 1: .*object, not null/],
  ['["x"]', ['enqueue', '["x"]'], 2, /job 1: .*object, not a string/],
  ['{}', ['enqueue', '{}'], 2, /command is missing/],
  ['deep nesting', ['enqueue', '['.repeat(50_000) + ']'.repeat(50_000)], 2, /nested|JSON/],
  ['null as command', asJson({ command: null }), 2, /command/],
  ['a blank command', asJson({ command: ' \n\t' }), 2, /command must not be empty/],
  ['a number as command', asJson({ command: 5 }), 2, /command must be a string/],
  ['an array as command', asJson({ command: ['a'] }), 2, /command must be a string/],
  ['NUL in the command', ['enqueue', '{"command":"echo a\\u0000b"}'], 2, /NUL/],
  ['half a surrogate pair in the command', ['enqueue', '{"command":"\\ud800"}'], 2, /Unicode/],
  [
    'a command of 1 MB',
    ['enqueue', '--file', '-'],
    2,
    /bytes.*limit/,
    { stdin: JSON.stringify({ command: LONG_COMMAND }) },
  ],
  [
    'a command of 1 MB in a plain line',
    ['enqueue', '--file', '-'],
    2,
    /line 2: .*limit/,
    { stdin: `true\n${LONG_COMMAND}\n` },
  ],
  ['NUL in a plain line', ['enqueue', '--file', '-'], 2, /line 1: .*NUL/, { stdin: 'echo \0' }],
  ['a file that is not UTF-8', ['enqueue', '--file', '/bin/sh'], 2, /UTF-8/],
  ['an empty argv', asJson({ command: undefined, argv: [] }), 2, /argv/],
  ['a number in argv', asJson({ command: undefined, argv: ['a', 1] }), 2, /argv\[1\]/],
  ['a number as id', asJson({ id: 5 }), 2, /id must be a string/],
  ['an empty id', asJson({ id: '' }), 2, /id must not be empty/],
  ['an id that starts with a dash', asJson({ id: '-x' }), 2, /id must not start/],
  ['an id with a newline', asJson({ id: 'a\nb' }), 2, /id must not contain/],
  ['a long id', asJson({ id: 'x'.repeat(129) }), 2, /128/],
  ['max_retries as text', asJson({ max_retries: '3' }), 2, /max_retries must be a number/],
  ['a negative max_retries', asJson({ max_retries: -1 }), 2, /max_retries/],
  ['a fractional max_retries', asJson({ max_retries: 1.5 }), 2, /max_retries/],
  ['an infinite max_retries', ['enqueue', '{"command":"true","max_retries":1e999}'], 2, /max_retries/],
  [
    'max_retries beyond 2^53',
    ['enqueue', '{"command":"true","max_retries":9007199254740993}'],
    2,
    /max_retries/,
  ],
  ['NaN in JSON', ['enqueue', '{"command":"true","priority":NaN}'], 2, /JSON/],
  ['an unknown priority', asJson({ priority: 'highest' }), 2, /priority/],
  ['priority as boolean', asJson({ priority: true }), 2, /priority/],
  ['a negative timeout', asJson({ timeout: -5 }), 2, /timeout/],
  ['a timeout of 0', asJson({ timeout: 0 }), 2, /timeout/],
  ['a timeout that is too long', asJson({ timeout: 1e12 }), 2, /timeout/],
  ['a timeout in an unknown unit', asJson({ timeout: '5 parsecs' }), 2, /timeout/],
  ['a negative delay', asJson({ delay: -1 }), 2, /delay/],
  ['run_at that is not a time', asJson({ run_at: 'soon' }), 2, /run_at/],
  ['run_at on a day that does not exist', asJson({ run_at: '2030-02-30T00:00:00Z' }), 2, /run_at/],
  ['run_at together with delay', asJson({ run_at: '+1m', delay: 5 }), 2, /cannot be used together/],
  ['two spellings of one field', asJson({ retries: 1, max_retries: 2 }), 2, /retries/],
  ['backoff_base below 1', asJson({ backoff_base: 0.5 }), 2, /backoff_base/],
  ['env as array', asJson({ env: ['A=1'] }), 2, /env/],
  ['a number in env', asJson({ env: { A: 1 } }), 2, /env\.A/],
  ['a variable of queuectl in env', asJson({ env: { QUEUECTL_FENCE: '9' } }), 2, /QUEUECTL_FENCE/],
  ['tags as text', asJson({ tags: 'a' }), 2, /tags/],
  ['a relative cwd', asJson({ cwd: 'somewhere' }), 2, /cwd/],
  [
    'one bad job of three',
    ['enqueue', '[{"command":"a"},{"command":""},{"command":"c"}]'],
    2,
    /job 2: command/,
  ],
  [
    'one bad job in a file',
    ['enqueue', '--file', '-'],
    2,
    /line 3/,
    { stdin: 'true\n\n{"command":5}\ntrue\n' },
  ],
  [
    'one malformed line in a file',
    ['enqueue', '--file', '-'],
    2,
    /line 2/,
    { stdin: '{"command":"a"}\n{"command":\n' },
  ],
  ['a taken id in a batch', ['enqueue', '[{"command":"a"},{"id":"taken","command":"b"}]'], 4, /'taken'/],
  [
    'one id twice in a batch',
    ['enqueue', '[{"id":"x","command":"a"},{"id":"x","command":"b"}]'],
    4,
    /'x' is used twice, by job 1 and job 2/,
  ],
  ['a taken id', ['enqueue', '{"id":"taken","command":"other"}'], 4, /'taken'/],
  ['a taken id as flag', asFlags('--id', 'taken'), 4, /'taken'/],
  ['a number as stdin', asJson({ stdin: 5 }), 2, /stdin must be a string/],
  [
    'a stdin of more than 1 MiB',
    ['enqueue', '--file', '-'],
    2,
    /stdin is longer than 1 MiB/,
    { stdin: JSON.stringify({ command: 'cat', stdin: 'x'.repeat(1024 ** 2 + 1) }) },
  ],
  ['a job from show without its stdin', asJson({ stdin: null, stdin_bytes: 7 }), 2, /stdin is missing/],
  ['split_output as text', asJson({ split_output: 'yes' }), 2, /split_output must be true or false/],
  [
    'secret_env with values',
    asJson({ secret_env: { A: 'b' } }),
    2,
    /secret_env must be an array of variable names/,
  ],
  ['a variable in env and secret_env', asJson({ secret_env: ['A'], env: { A: 'b' } }), 2, /A is in both env/],
  ['a number as backoff', asJson({ backoff: 2 }), 2, /backoff must be one of exponential, linear, fixed/],
  ['jitter above 1', asJson({ jitter: 2 }), 2, /jitter must be a number from 0 to 1/],
  ['backoff_max in two units', asJson({ backoff_max: 5, backoff_max_ms: 5000 }), 2, /used together/],
];

const COMMAND_LINE_ROWS: Row[] = [
  ['enqueue without a command', ['enqueue'], 2, /requires a command/],
  ['an empty command', ['enqueue', ''], 2, /must not be empty/],
  ['a blank command', ['enqueue', '--command', '  '], 2, /must not be empty/],
  ['an empty argv', ['enqueue', '--'], 2, /./],
  ['a command given in two ways', ['enqueue', 'a', '--command', 'b'], 2, /more than once/],
  ['two commands', ['enqueue', 'a', 'b'], 2, /unexpected argument 'b'/],
  ['--file with a missing file', ['enqueue', '--file', 'nowhere'], 2, /nowhere/],
  ['--file with a directory', ['enqueue', '--file', '/'], 2, /directory/],
  ...['-1', 'NaN', '1e3', '', '99999999999999999999', '1.5', 'three', '0x5'].map(
    (value): Row => [`--max-retries '${value}'`, asFlags(`--max-retries=${value}`), 2, /max-retries/],
  ),
  ...['-5s', 'NaN', '1x', '', '99999999999d'].flatMap((value): Row[] => [
    [`--timeout '${value}'`, asFlags(`--timeout=${value}`), 2, /timeout/],
    [`--delay '${value}'`, asFlags(`--delay=${value}`), 2, /delay/],
  ]),
  ['--run-at nonsense', asFlags('--run-at', 'yesterday-ish'), 2, /run.at/],
  ['--priority nonsense', asFlags('-p', 'very'), 2, /priority/],
  ['a huge --priority', asFlags('-p', '99999999999'), 2, /priority/],
  ['--backoff-base 0', asFlags('--backoff-base', '0'), 2, /backoff-base/],
  ['--env without =', asFlags('--env', 'A'), 2, /--env/],
  ['--stdin with a missing file', asFlags('--stdin', '@nowhere'), 2, /nowhere does not exist/],
  ['--stdin with a directory', asFlags('--stdin', '@/'), 2, /directory/],
  ['--stdin with an empty file name', asFlags('--stdin', '@'), 2, /the file name after @ is missing/],
  ['--stdin with an endless file', asFlags('--stdin', '@/dev/zero'), 2, /longer than 1 MiB/],
  ['--stdin with a binary file', asFlags('--stdin', '@/bin/sh'), 2, /not valid UTF-8/],
  ['--stdin - and --file -', ['enqueue', '--file', '-', '--stdin', '-'], 2, /both/, { stdin: 'true\n' }],
  [
    '--stdin with a stdin field',
    ['enqueue', '--stdin', 'a', '{"command":"a","stdin":"b"}'],
    2,
    /both set stdin/,
  ],
  ['--secret-env with a value', asFlags('--secret-env', 'A=b'), 2, /variable names only/],
  ['a variable in --secret-env and --env', asFlags('--secret-env', 'A', '--env', 'A=b'), 2, /secret_env/],
  ['an unknown --backoff', asFlags('--backoff', 'cubic'), 2, /exponential, linear, fixed/],
  [
    '--backoff-max 0',
    asFlags('--backoff-max', '0'),
    2,
    /--backoff-max must be a duration from 1ms to 3650d, not '0'/,
  ],
  ['--jitter 1.5', asFlags('--jitter', '1.5'), 2, /--jitter/],
  [
    '--backoff with a backoff field',
    ['enqueue', '--backoff', 'fixed', '{"command":"a","backoff":"fixed"}'],
    2,
    /both set backoff/,
  ],
  ['logs --stderr of output that is not split', ['logs', 'taken', '--stderr'], 4, /--split-output/],
  ['logs with --stderr and --stdout', ['logs', 'taken', '--stderr', '--stdout'], 2, /--stdout and --stderr/],
  ['a flag without its value', ['enqueue', 'true', '--id'], 2, /--id requires a value/],
  ['an unknown command', ['enqueu', 'true'], 2, /unknown command 'enqueu'.*enqueue/],
  ['an unknown command of a group', ['dlq', 'lst'], 2, /dlq lst.*dlq list/],
  ...['enqueue', 'status', 'list', 'show', 'logs', 'stats', 'version'].map(
    (command): Row => [
      `an unknown flag of ${command}`,
      [command, '--nonsens'],
      2,
      /unknown flag '--nonsens'/,
    ],
  ),
  ...['worker start', 'worker stop', 'worker list', 'dlq list', 'dlq retry', 'dlq purge', 'config set'].map(
    (command): Row => [
      `an unknown flag of ${command}`,
      [...command.split(' '), '--al'],
      2,
      /unknown flag '--al'/,
    ],
  ),
  ['an unknown flag without a command', ['--nonsense'], 2, /unknown flag/],
  ['an unknown state', ['list', '--state', 'compleated'], 2, /'compleated'.*completed/],
  ['an empty state', ['list', '--state', ''], 2, /state/],
  ['one unknown state of two', ['list', '--state', 'dead,alive'], 2, /'alive'/],
  ...['0', '-1', 'x', '1.5', '1000000'].map(
    (count): Row => [`worker start --count ${count}`, ['worker', 'start', `--count=${count}`], 2, /--count/],
  ),
  ['worker start --concurrency 0', ['worker', 'start', '--concurrency', '0'], 2, /--concurrency/],
  ['list --limit 0', ['list', '--limit', '0'], 2, /--limit/],
  ['list --limit -1', ['list', '--limit', '-1'], 2, /--limit/],
  ['an unknown setting', ['config', 'set', 'max-retrys', '3'], 2, /max-retrys.*max-retries/],
  ['an unknown setting to get', ['config', 'get', 'pol-interval'], 2, /poll-interval/],
  ['a setting without a value', ['config', 'set', 'max-retries'], 2, /value/],
  ...['-1', '1001', 'NaN', 'many', ''].map(
    (value): Row => [
      `config set max-retries '${value}'`,
      ['config', 'set', 'max-retries', value],
      2,
      /max-retries|value/,
    ],
  ),
  ['config set backoff-base 0.5', ['config', 'set', 'backoff-base', '0.5'], 2, /backoff-base/],
  ['a lease shorter than three heartbeat intervals', ['config', 'set', 'lease', '1s'], 2, /lease/],
  ['an unknown job to show', ['show', 'nobody'], 3, /'nobody'/],
  ['the logs of an unknown job', ['logs', 'nobody'], 3, /'nobody'/],
  ['show without an id', ['show'], 2, /id/],
  ['an attempt that does not exist', ['logs', 'taken', '--attempt', '2'], 3, /attempt 2/],
  ['dlq show of a job that is not dead', ['dlq', 'show', 'taken'], 4, /'taken'/],
  ['dlq purge of a job that is not dead', ['dlq', 'purge', 'taken'], 4, /'taken'/],
  ['dlq retry --all with ids', ['dlq', 'retry', '--all', 'taken'], 2, /not both/],
  ['run without a command', ['run'], 125, /run requires a command/],
  ['run with a command given in two ways', ['run', 'a', '--command', 'b'], 125, /more than once/],
  ['--after itself', asFlags('--id', 'self', '--after', 'self'), 2, /job 'self' cannot depend on itself/],
  ['depends_on itself', asJson({ id: 'self', depends_on: 'self' }), 2, /job 'self' cannot depend on itself/],
  ...['queue', 'name', 'error', 'tag', 'state'].flatMap((filter): Row[] => [
    [`an empty --${filter} of list`, ['list', `--${filter}=`], 2, /state|KEY=VALUE|must not be empty/],
    [
      `an empty --${filter} of delete`,
      ['delete', '--yes', `--${filter}=`],
      2,
      /state|KEY=VALUE|must not be empty/,
    ],
  ]),
  ['an exit code in both retry flags', asFlags('--retry-on', '1-5', '--no-retry-on', '5'), 2, /exit code 5/],
  [
    '--backoff-base with fixed backoff',
    asFlags('--backoff', 'fixed', '--backoff-base', '3'),
    2,
    /backoff_base only works with/,
  ],
  [
    '--unique-for 0',
    asFlags('--unique', 'k', '--unique-for', '0'),
    2,
    /--unique-for must be a duration from 1ms/,
  ],
  ['--unique-for without --unique', asFlags('--unique-for', '1m'), 2, /--unique-for requires --unique/],
  ['--unique-while without --unique', asFlags('--unique-while', 'pending'), 2, /while requires --unique/],
  [
    'a timeout of 100 years',
    asFlags('--timeout', '36500d'),
    2,
    /--timeout must be a duration from 1ms to 3650d, not '36500d'/,
  ],
  [
    'a misspelled field name',
    ['enqueue', '{"comand":"x"}'],
    2,
    /command is missing.*'command' instead of 'comand'/,
  ],
  [
    'one id twice in a file',
    ['enqueue', '--file', '-'],
    4,
    /'n1' is used twice, by job 1 and job 3/,
    { stdin: '{"id":"n1","command":"a"}\n\ntrue\n{"id":"n1","command":"b"}\n' },
  ],
  [
    'a cron expression with an invalid minute',
    ['schedule', 'add', 'x', '--cron', '61 * * * *', 'true'],
    2,
    /'61 \* \* \* \*' has an invalid minute: '61'/,
  ],
  [
    'a schedule with too short an interval',
    ['schedule', 'add', 'x', '--every', '10ms', 'true'],
    2,
    /--every must be a duration from 1s to 3650d/,
  ],
];

for (const [what, args, code, message, options] of [...JOB_ROWS, ...COMMAND_LINE_ROWS]) {
  test(`${what} is refused and changes nothing`, async () => {
    const stateBefore = lastState ?? (await readState());
    lastState = undefined;
    expectRefusal(await box.run(args, options), code, message);
    lastState = await readState();
    expect(lastState).toEqual(stateBefore);
  });
}
