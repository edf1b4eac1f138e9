/** Tests most of the attacks that attack-coverage.test.ts lists. That file also names the other test files. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunOptions, sandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { onTerminal } from '../support/terminal.ts';

const box = sandbox();

beforeAll(async () => {
  await box.run(['enqueue', '--id', 'there', '--delay', '1h', '--tag', 'k=v', 'echo original']);
});
afterAll(() => box.cleanup());

type Row = [number: string, what: string, args: string[], code: number, error: RegExp, options?: RunOptions];

// asJson and asFlags return the arguments that enqueue a job with these fields or flags.
const asJson = (fields: object): string[] => ['enqueue', JSON.stringify({ command: 'true', ...fields })];
const asFlags = (...flags: string[]): string[] => ['enqueue', ...flags, 'true'];
const withStdin = (text: string): RunOptions => ({ stdin: text });
const CONTROLS = '\x1b]0;title\x07\x1b[2J\x9b31m\r\x08\x7f';

const REFUSED: Row[] = [
  ['S1', 'an empty id', asJson({ id: '' }), 2, /id must not be empty/],
  ['S1', 'an id with NUL', ['enqueue', '{"command":"true","id":"a\\u0000b"}'], 2, /id must not contain/],
  ['S1', 'an id with a newline', asJson({ id: 'a\nb' }), 2, /id must not contain/],
  ['S1', 'an id with an escape', asJson({ id: CONTROLS }), 2, /id must not contain/],
  ['S1', 'an id that changes the text direction', asJson({ id: 'a\u202eb' }), 2, /id must not contain/],
  ['S1', 'an id with a zero-width character', asJson({ id: 'a\u200bb' }), 2, /id must not contain/],
  ['S1', 'an id of 300 characters', asJson({ id: 'x'.repeat(300) }), 2, /128/],
  ['S1', 'an id that looks like a flag', asJson({ id: '--yes' }), 2, /id must not start/],
  ['S2', 'a queue with a newline', asJson({ queue: 'a\nb' }), 2, /queue must not contain/],
  ['S2', 'a queue of 300 characters', asJson({ queue: 'x'.repeat(300) }), 2, /128/],
  ['S2', 'the wildcard as a queue', asJson({ queue: '*' }), 2, /queue/],
  ['S2', 'a tag with a newline', asJson({ tags: { 'a\nb': 'c' } }), 2, /tags/],
  ['S2', 'a tag value with escapes', asJson({ tags: { k: CONTROLS } }), 2, /tags: k must not contain/],
  [
    'S2',
    'a tag value that changes the text direction',
    asFlags('--tag', 'k=a\u202eb'),
    2,
    /tags: k must not contain/,
  ],
  ['S3', 'an empty command', ['enqueue', ''], 2, /empty/],
  ['S3', 'a command of spaces', ['enqueue', ' \t '], 2, /empty/],
  ['S3', 'NUL in a command', ['enqueue', '{"command":"a\\u0000b"}'], 2, /NUL/],
  [
    'S3',
    'a command above the limit of the kernel',
    ['enqueue', '--file', '-'],
    2,
    /limit/,
    withStdin(`echo ${'x'.repeat(140_000)}\n`),
  ],
  [
    'S3',
    'an argument above the limit of the kernel',
    ['enqueue', '--file', '-'],
    2,
    /longer than 131071/,
    withStdin(JSON.stringify({ argv: ['echo', 'x'.repeat(140_000)] })),
  ],
  ['S6', 'a variable of queuectl', asJson({ env: { QUEUECTL_RUN: 'x' } }), 2, /QUEUECTL_RUN/],
  ['S6', 'a variable with = in its name', asJson({ env: { 'A=B': 'x' } }), 2, /env/],
  ['S6', 'a variable without a name', asJson({ env: { '': 'x' } }), 2, /env/],
  ['S6', 'NUL in a variable', ['enqueue', '{"command":"true","env":{"A":"b\\u0000c"}}'], 2, /env/],
  ['S6', 'NUL in the name of a variable', ['enqueue', '{"command":"true","env":{"A\\u0000":"b"}}'], 2, /env/],
  ['S7', 'a masked value', asJson({ env: { DB_PASSWORD: '•••' } }), 2, /the value of DB_PASSWORD is •••/],
  ['S7', 'a masked secret in a flag', asFlags('--env', 'A=•••'), 2, /a masked secret/],
  ['S8', 'a relative cwd', asJson({ cwd: '../x' }), 2, /cwd/],
  ['S8', 'NUL in a cwd', ['enqueue', '{"command":"true","cwd":"/a\\u0000b"}'], 2, /cwd/],
  // Only --priority accepts the value -1, so that row is removed.
  ...['-1', '1e309', 'NaN', '1e3', '0x10', '9007199254740993', '5m; x', '１', ' ', '--5']
    .flatMap((value): Row[] => [
      ['S9', `--max-retries '${value}'`, asFlags(`--max-retries=${value}`), 2, /max-retries/],
      ['S9', `--priority '${value}'`, asFlags(`--priority=${value}`), value === '-1' ? 0 : 2, /priority/],
      ['S9', `--timeout '${value}'`, asFlags(`--timeout=${value}`), 2, /timeout/],
    ])
    .filter(([, , , code]) => code !== 0),
  ['S9', 'a timeout above the maximum', asFlags('--timeout=9999999999d'), 2, /timeout/],
  ['S9', 'a timeout of 0', asFlags('--timeout=0'), 2, /timeout/],
  [
    'S9',
    'a number that JSON.parse reads as infinite',
    ['enqueue', '{"command":"true","priority":1e309}'],
    2,
    /priority/,
  ],
  [
    'S10',
    'a cron expression with many commas',
    ['schedule', 'add', 'x', '--cron', `${'1,'.repeat(1000)}1 * * * *`, '--', 'true'],
    2,
    /256/,
  ],
  [
    'S10',
    'a cron expression of 10,000 characters',
    ['schedule', 'add', 'x', '--cron', '* '.repeat(5000), '--', 'true'],
    2,
    /256/,
  ],
  [
    'S10',
    'a regular expression as cron',
    ['schedule', 'add', 'x', '--cron', '(a+)+$ * * * *', '--', 'true'],
    2,
    /cron/,
  ],
  ['S10', 'a regular expression as a filter', ['list', '--where', 'attempts>(a+)+$'], 2, /--where/],
  ['S10', 'an unknown field as a filter', ['list', '--where', 'evil>1'], 2, /where/],
  [
    'S11',
    'JSON with 200,000 levels',
    ['enqueue', '--file', '-'],
    2,
    /nested|JSON/,
    withStdin('['.repeat(200_000)),
  ],
  [
    'S11',
    'a field that is nested too deeply',
    ['enqueue', `{"command":"true","tags":${'['.repeat(40)}${']'.repeat(40)}}`],
    2,
    /nested more than 32/,
  ],
  ['S11', 'half of a surrogate pair', ['enqueue', '{"command":"\\ud800"}'], 2, /Unicode/],
  ['S11', 'bytes that are not UTF-8', ['enqueue', '--file', '/bin/sh'], 2, /UTF-8/],
  ['S12', 'SQL as an id', ['show', "' OR 1=1--"], 3, /no job/],
  ['S12', 'SQL as an id to delete', ['delete', "'; DROP TABLE job;--"], 3, /no job/],
  ['S12', 'a wildcard as an id', ['delete', '%'], 3, /no job/],
  ['S12', 'SQL as a filter', ['list', '--where', '1=1; DROP TABLE job'], 2, /where/],
  ['S12', 'a limit below 1', ['list', '--limit', '-1'], 2, /--limit/],
  ['S20', 'plain text as an import', ['import', '-'], 2, /line 1/, withStdin('dear diary\n')],
  ['S20', 'a program as a backup', ['restore', '--yes', '/bin/sh'], 5, /not a queuectl database/],
  ['S25', 'a token on the command line', ['status', '--token', 'secret'], 2, /unknown flag/],
];

async function exportAll(): Promise<string> {
  return (await box.run(['export'])).stdout;
}

for (const [number, what, args, code, error, options] of REFUSED) {
  test(`${number}: ${what} is refused, and nothing changes`, async () => {
    const exportedBefore = await exportAll();
    const result = await box.run(args, options);
    expectRefusal(result, code, error);
    expect(result.stderr).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
    expect(await exportAll()).toBe(exportedBefore);
  });
}

/** Command lines with unusual input that is accepted, with the exact output of the job. */
const ACCEPTED: [number: string, what: string, args: string[], expectedOutput: string][] = [
  ...[
    '../../etc/passwd',
    'a/b',
    'con',
    `it's "quoted"`,
    'two words',
    '%s',
    "'; DROP TABLE job;--",
    '.',
    '..',
    '~',
    '$(id)',
    '<b>',
  ].map((id): [string, string, string[], string] => [
    'S1',
    `the id ${id}`,
    asJson({ id, command: 'printf %s "$QUEUECTL_JOB_ID"' }),
    id,
  ]),
  ...['<script>alert(1)</script>', `"quo'te`, '📮', 'a b'].map(
    (queue): [string, string, string[], string] => [
      'S2',
      `the queue ${queue}`,
      asJson({ queue, command: 'printf %s "$QUEUECTL_QUEUE"' }),
      queue,
    ],
  ),
  ...['; rm -rf /', '$(id)', '`id`', '*', '&& false', '| cat', '"', "'", '\\', '-n', '$HOME', '~'].map(
    (text): [string, string, string[], string] => [
      'S4',
      `the argument ${text}`,
      ['enqueue', '--', 'printf', '%s', text],
      text,
    ],
  ),
  [
    'S6',
    'a variable that would load code',
    asJson({
      env: { LD_PRELOAD: '', BASH_ENV: '/nowhere', NODE_OPTIONS: 'x' },
      command: 'printf %s "$NODE_OPTIONS"',
    }),
    'x',
  ],
  [
    'S11',
    '__proto__',
    ['enqueue', '{"command":"printf fine","__proto__":{"state":"dead"},"constructor":{"prototype":{"x":1}}}'],
    'fine',
  ],
  [
    'S23',
    'output that looks like commands of a CI system',
    ['enqueue', `printf '::set-output name=state::dead\\n{"uid":0,"state":"dead"}'`],
    '::set-output name=state::dead\n{"uid":0,"state":"dead"}',
  ],
  [
    'S24',
    'the descriptors and variables that a job inherits',
    ['enqueue', 'ls /proc/self/fd | tr "\\n" " "; env | grep -c "^BUN_\\|TOKEN" || true'],
    '0 1 2 3 0\n',
  ],
  ['S11', 'a field that is given twice', ['enqueue', '{"command":"false","command":"printf last"}'], 'last'],
  [
    'S9',
    'a timeout above the limit of a timer',
    asFlags('--timeout', '2147483648ms', '--command', 'printf fine').slice(0, -1),
    'fine',
  ],
];

test('S1, S2, S4, S6, S9, S11, S23, S24: jobs with unusual input complete and print exactly what is expected', async () => {
  const ids: string[] = [];
  for (const [, what, args] of ACCEPTED) {
    const { code, stdout, stderr } = await box.run(args);
    expect({ what, code, stderr: stderr.replace(/^warning: unknown field.*\n/gm, '') }).toEqual({
      what,
      code: 0,
      stderr: '',
    });
    ids.push(stdout.slice(0, -1));
  }
  await box.run(['worker', 'start', '--drain', '--quiet']);
  for (const [i, [number, what, , expectedOutput]] of ACCEPTED.entries()) {
    const { stdout } = await box.run(['logs', ids[i]!]);
    expect({ number, what, stdout }).toEqual({ number, what, stdout: expectedOutput });
    expect(await box.json(['show', ids[i]!])).toMatchObject({ state: 'completed', exit_code: 0 });
  }
  // No id was used in the name of a file of an attempt.
  for (const id of ids) expect(existsSync(join(box.stateDirectory(), 'attempts', `${id}.out`))).toBe(false);
  expect(await box.json(['list', '--queue', "' OR 1=1--"])).toEqual([]);
});

const SECRET = 'hunter2-7f3a91';

/** Commands that store a secret in a variable, with their warning, and commands without a warning. Texts of commands are not searched. */
const SECRETS: [what: string, args: string[], warning: RegExp | null, options?: RunOptions][] = [
  ['a secret in --env', asFlags('--env', `DB_PASSWORD=${SECRET}`), /DB_PASSWORD .*--secret-env DB_PASSWORD/],
  ['a secret in JSON', asJson({ env: { PATH: '/bin', API_TOKEN: SECRET } }), /--secret-env API_TOKEN/],
  ['a secret in a flag', ['enqueue', `true --password=${SECRET}`], null],
  ['a secret as an argument', ['enqueue', '--', 'true', '--token', SECRET], null],
  ['a secret in an assignment', ['enqueue', `AWS_SECRET_ACCESS_KEY=${SECRET} true`], null],
  ['a secret in a hook', asFlags('--on-dead', `true --token=${SECRET}`), null],
  [
    'secret variables in a file',
    ['enqueue', '--file', '-'],
    /--secret-env A_TOKEN/,
    withStdin(`${JSON.stringify({ command: 'true', env: { A_TOKEN: SECRET } })}\n`.repeat(3)),
  ],
  ['a secret in two variables', asJson({ env: { A_TOKEN: SECRET, B_TOKEN: SECRET } }), /A_TOKEN/],
  [
    'a secret in a schedule',
    ['schedule', 'add', 'hush', '--every', '1d', '--env', `A_TOKEN=${SECRET}`, '--', 'true'],
    /--secret-env A_TOKEN/,
  ],
  ['a reference to a variable', ['enqueue', 'true --password="$PW"'], null],
  ['text about a password', ['enqueue', "echo 'password reset'"], null],
  ['a count of tokens', asFlags('--env', 'TOKEN_COUNT=5'), null],
  ['the name of a secret', asFlags('--secret-env', 'DB_PASSWORD'), null],
  ['a secret with --quiet', asFlags('--quiet', '--env', `DB_PASSWORD=${SECRET}`), null],
];

for (const [what, args, warning, options] of SECRETS) {
  test(`S7: enqueuing ${what} prints ${warning === null ? 'no warning' : 'one warning'}`, async () => {
    const { code, stderr } = await box.run(args, options);
    expect(code).toBe(0);
    if (warning === null) expect(stderr).toBe('');
    else {
      expect(stderr).toMatch(/^warning: [^\n]+\n$/);
      expect(stderr).toMatch(warning);
      expect(stderr).not.toContain(SECRET);
    }
  });
}

test('S7: tables and templates mask secret variables, and JSON contains them and can be enqueued again', async () => {
  const id = (
    await box.run(asFlags('--env', `MY_TOKEN=${SECRET}`, '--env', 'A=1', '--delay', '1h'))
  ).stdout.trim();
  const views = [
    ['show', id],
    ['list'],
    ['list', '--format', '{env}'],
    ['schedule', 'show', 'hush'],
    ['schedule', 'list', '--format', '{job}'],
    ['events', '--lines', '1000'],
    ['metrics'],
    ['explain', id],
  ];
  for (const args of views) expect((await box.run(args)).stdout).not.toContain(`TOKEN=${SECRET}`);
  for (const args of views.filter((view) => view.includes('--format') || view[0] === 'show')) {
    const { stdout } = await box.run(args);
    expect(stdout).not.toContain(SECRET);
    expect(stdout).toContain('•••');
  }
  const shown = await box.json<{ id?: string; env: object }>(['show', id]);
  expect(shown.env).toEqual({ MY_TOKEN: SECRET, A: '1' });
  expect((await box.run(['export'])).stdout).toContain(SECRET);
  delete shown.id;
  const again = await box.json<{ env: object }>(['enqueue', JSON.stringify(shown)]);
  expect(again.env).toEqual(shown.env);
});

test('S8: a job whose directory is gone or is a file fails with that reason', async () => {
  const gone = join(box.directory, 'gone');
  mkdirSync(gone);
  writeFileSync(join(box.directory, 'plain'), '');
  await box.run(['enqueue', '--id', 'gone', '--max-retries', '1', '--cwd', gone, 'true']);
  await box.run([
    'enqueue',
    JSON.stringify({ id: 'plain', max_retries: 1, command: 'true', cwd: join(box.directory, 'plain') }),
  ]);
  await box.run(['enqueue', '--id', 'fine', 'true']);
  rmdirSync(gone);
  await box.run(['worker', 'start', '--drain', '--quiet']);
  expect(await box.json(['show', 'gone'])).toMatchObject({
    state: 'dead',
    last_error: expect.stringContaining('does not exist'),
  });
  expect(await box.json(['show', 'plain'])).toMatchObject({
    state: 'dead',
    last_error: expect.stringContaining('not a directory'),
  });
  expect(await box.json(['show', 'fine'])).toMatchObject({ state: 'completed' });
});

test('S13, S14: escape sequences in a command or its output never reach the terminal', async () => {
  const command = `printf '${CONTROLS.replaceAll('\x1b', '\\033').replaceAll('\x07', '\\007').replaceAll('\x9b', '\\233').replaceAll('\x7f', '\\177').replaceAll('\r', '\\r').replaceAll('\x08', '\\b')}'; echo end; exit 3`;
  const nasty = JSON.stringify({
    id: 'nasty',
    command: `# ${CONTROLS}\u202e\n${command}`,
    max_retries: 1,
  });
  expect((await box.run(['enqueue', '--file', '-'], { stdin: nasty })).code).toBe(0);
  await box.run(['worker', 'start', '--drain', '--quiet']);
  for (const args of [
    ['list'],
    ['show', 'nasty'],
    ['logs', 'nasty'],
    ['dlq', 'list'],
    ['explain', 'nasty'],
  ]) {
    const terminal = onTerminal(box, args, 40, 200);
    await terminal.closed;
    expect(terminal.output().length).toBeGreaterThan(10);
    expect(terminal.output()).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]/);
  }
});
