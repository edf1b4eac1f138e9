import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import {
  COMMAND_ALIASES,
  COMMAND_HINTS,
  FLAG_ALIASES,
  GROUP_ALIASES,
  JOB_WORDS,
} from '../../src/cli/frame/aliases.ts';
import { COMMANDS, DESTRUCTIVE, isGroup, UNLISTED } from '../../src/cli/frame/commands.ts';
import { settingAliases } from '../../src/core/settings/setting-names.ts';
import { SETTING_KEYS } from '../../src/core/settings/settings.ts';
import { sandbox, until } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';

const box = sandbox();

beforeAll(async () => {
  const jobs = [
    { id: 'job1', command: 'echo one; exit 1', max_retries: 1 },
    { id: 'job2', command: 'echo two' },
    { id: 'later', command: 'true', delay: '1h', queue: 'mail' },
  ];
  expect((await box.run(['enqueue', JSON.stringify(jobs)])).code).toBe(0);
  expect(await box.start(['worker', 'start', '--drain', '--quiet']).exit).toBe(0);
  expect((await box.run(['schedule', 'add', 'nightly', '--cron', '0 2 * * *', 'true'])).code).toBe(0);
});
afterAll(() => box.cleanup());

/** Splits a command line at its spaces. Words in single quotes stay together. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);

const run = (line: string) => box.run(wordsOf(line));

const aliasesAndCommands = Object.entries(COMMAND_ALIASES).flatMap(([target, words]) =>
  words.map((word): [string, string] => [word, target.split(' --')[0]!]),
);

test.each(aliasesAndCommands)('%s --help shows the help of %s', async (alias, command) => {
  const { code, stdout } = await run(`${alias} --help`);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`Usage:\n  queuectl ${command}( |\n)`));
});

test('every alias leads to a command that exists, and no alias is the name of a command or listed twice', () => {
  const exists = (line: string): boolean => {
    const [first, second] = line.split(' ');
    const entry = COMMANDS[first!];
    if (entry === undefined) return first! in UNLISTED;
    return !isGroup(entry) || entry.commands[second!] !== undefined;
  };
  for (const [target, words] of Object.entries(COMMAND_ALIASES)) {
    expect([target, exists(target)]).toEqual([target, true]);
    for (const word of words) {
      const entry = COMMANDS[word.split(' ')[0]!];
      const isTaken =
        entry !== undefined && (isGroup(entry) ? word.split(' ')[1]! in entry.commands : !word.includes(' '));
      expect([word, isTaken]).toEqual([word, false]);
      expect(COMMAND_HINTS[word]).toBeUndefined();
    }
  }
  const allAliases = [...Object.values(COMMAND_ALIASES), ...Object.values(GROUP_ALIASES), JOB_WORDS].flat();
  expect(allAliases.length).toBe(new Set(allAliases).size);
  for (const [flag, names] of Object.entries(FLAG_ALIASES)) expect(names).not.toContain(flag);
});

test('the help of a command or group lists its aliases, and the overview of all commands lists none', async () => {
  expect((await run('help delete')).stdout).toContain('Aliases:\n  delete');
  expect((await run('help delete')).stdout).toContain('rm, remove, del');
  expect((await run('help worker start')).stdout).toMatch(/--detach +--daemon, --detached/);
  expect((await run('help enqueue')).stdout).toMatch(/--max-retries +--retries/);
  expect((await run('worker')).stdout).toContain('workers');
  expect((await run('help config set')).stdout).toContain('visibility-timeout');
  const overview = (await run('help')).stdout;
  for (const word of ['rm', 'requeue', 'daemon', 'init'])
    expect(overview).not.toMatch(new RegExp(`\\b${word}\\b`));
});

/** Command lines that people type, and the command line with the same result. */
const EQUIVALENT_LINES: [typed: string, meant: string][] = [
  ['jobs', 'list'],
  ['job list', 'list'],
  ['jobs --state dead', 'list --state dead'],
  ['ls --json=id,state', 'list --json=id,state'],
  ['list dead', 'list --state dead'],
  ['list dead completed', 'list --state dead,completed'],
  ['list all', 'list'],
  ['list --all', 'list'],
  ['list --state all', 'list'],
  ['list --state DEAD', 'list --state dead'],
  ['list --status queued', 'list --state pending'],
  ['list --status succeeded', 'list --state completed'],
  ['list --state success', 'list --state completed'],
  ['list --state running', 'list --state processing'],
  ['list --output json', 'list --format json'],
  ['list -o csv', 'list --format csv'],
  ['list --json-output', 'list --json'],
  ['list --older_than 0s', 'list --older-than 0s'],
  ['list --exit_code=1', 'list --exit-code=1'],
  ['list --olderThan 0s', 'list --older-than 0s'],
  ['job show job1', 'show job1'],
  ['job status job1', 'show job1'],
  ['task info job1', 'show job1'],
  ['info job1', 'show job1'],
  ['show --id job1', 'show job1'],
  ['log job1', 'logs job1'],
  ['logs --job-id job1', 'logs job1'],
  ['logs --id=job1', 'logs job1'],
  ['tail job1', 'logs -f job1'],
  ['logs job2 --tail 1', 'logs job2 --lines 1'],
  ['why later', 'explain later'],
  ['dlq ls', 'dlq list'],
  ['dlq:list', 'dlq list'],
  ['dlq-list', 'dlq list'],
  ['dlq --list', 'dlq list'],
  ['dead', 'dlq list'],
  ['dead-letter list', 'dlq list'],
  ['dlq list --all', 'dlq list'],
  ['dlq inspect job1', 'dlq show job1'],
  ['queues', 'queue list'],
  ['queue status', 'queue list'],
  ['list queues', 'queue list'],
  ['workers', 'worker list'],
  ['worker status', 'worker list'],
  ['workers ls', 'worker list'],
  ['worker health', 'worker list'],
  ['schedules', 'schedule list'],
  ['cron ls', 'schedule list'],
  ['schedule info nightly', 'schedule show nightly'],
  ['stat', 'status'],
  ['config get', 'config list'],
  ['config show', 'config list'],
  ['config show --json', 'config list --json'],
  ['config get --format csv', 'config list --format csv'],
  ['config --list', 'config list'],
  ['settings', 'config list'],
  ['config show max_retries', 'config get max-retries'],
  ['config --get max-retries', 'config get max-retries'],
  ['config:get maxRetries', 'config get max-retries'],
  ['config get --key max-retries', 'config get max-retries'],
  ['config get default_max_retries', 'config get max-retries'],
  ['metrics show --json', 'metrics --json'],
  ['completions bash', 'completion bash'],
  ['completion --shell zsh', 'completion zsh'],
  ['dump', 'export'],
  ['list --no-color', 'list --color never'],
  ['--no-color list', 'list --color never'],
  ['list --reason scheduled', 'list --waiting-for scheduled'],
];

test('each of web start, ui, dashboard start and server starts the dashboard', async () => {
  for (const line of ['web start', 'ui', 'dashboard start', 'server']) {
    const server = box.start([...line.split(' '), '-p', '0']);
    await until(() => server.stdout().includes('token file: '), `${line} serves`);
    expect(server.stdout()).toStartWith('http://127.0.0.1:');
    server.child.kill('SIGTERM');
    await server.exit;
  }
});

test.each(EQUIVALENT_LINES)('%s prints the same as %s', async (typed, meant) => {
  const [actual, expected] = [await run(typed), await run(meant)];
  const maskTimes = (text: string): string =>
    text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z( \(\w+ ago\))?/g, 'T').replace(/in \d+[dhm] \d+[hms]/g, 'in T');
  expect({ ...actual, stdout: maskTimes(actual.stdout) }).toEqual({
    ...expected,
    stdout: maskTimes(expected.stdout),
  });
  expect(actual.code).toBe(0);
});

/** Command lines that add a job, and fields of that job. */
const ENQUEUE_LINES: [line: string, fields: Record<string, unknown>][] = [
  ["add 'echo hi'", { command: 'echo hi' }],
  [`submit '{"command":"true","priority":3}'`, { priority: 3 }],
  ["enqueue --cmd 'echo hi'", { command: 'echo hi' }],
  ['enqueue -i by-letter true', { id: 'by-letter' }],
  ['enqueue --job-id by-flag true', { id: 'by-flag' }],
  ['enqueue --retries 5 true', { max_retries: 5 }],
  ['enqueue --max_retries 5 true', { max_retries: 5 }],
  ['enqueue --max-attempts=5 true', { max_retries: 5 }],
  ['enqueue --maxRetries 5 true', { max_retries: 5 }],
  ['enqueue --depends-on later true', { depends_on: ['later'] }],
  ['enqueue --depends_on later true', { depends_on: ['later'] }],
  ['enqueue --tags a,b true', { tags: { a: '', b: '' } }],
  ['enqueue --tags=a,b=1 --tag c=2 true', { tags: { a: '', b: '1', c: '2' } }],
  [`enqueue '{"command":"true","tags":["a","b"]}'`, { tags: { a: '', b: '' } }],
  ['enqueue --timeout_seconds 30 true', { timeout_ms: 30_000 }],
  ['enqueue --time-limit 30 true', { timeout_ms: 30_000 }],
  ['enqueue --prio high true', { priority: 10 }],
  ['enqueue --group mail true', { queue: 'mail' }],
  ['enqueue --at 2040-01-01T00:00Z true', { run_at: '2040-01-01T00:00:00.000Z' }],
  ['enqueue --scheduled-at 2040-01-01T00:00Z true', { run_at: '2040-01-01T00:00:00.000Z' }],
  ['enqueue --workdir / true', { cwd: '/' }],
  ['enqueue --unique-key k true', { unique_key: 'k' }],
];

test.each(ENQUEUE_LINES)('%s adds a job with the expected fields', async (line, fields) => {
  const job = await box.json(wordsOf(line));
  expect(job).toMatchObject(fields);
});

test('aliases that change jobs, queues and schedules work like their commands', async () => {
  const add = async (...flags: string[]) =>
    (await box.run(['enqueue', '--delay', '1h', ...flags, 'true'])).stdout.trim();
  const stateOf = async (id: string) => (await box.json<{ state: string }>(['show', id])).state;
  const id = await add();
  expect(await run(`kill ${id}`)).toMatchObject({ code: 0, stdout: `${id}\n` });
  expect(await stateOf(id)).toBe('cancelled');
  expect(await run(`requeue --id ${id}`)).toMatchObject({ code: 0, stdout: `${id}\n` });
  expect(await stateOf(id)).toBe('pending');
  expect(await run(`stash ${id}`)).toMatchObject({ code: 0 });
  expect(await run(`unstash ${id}`)).toMatchObject({ code: 0 });
  expect(await run(`update ${id} --prio 7`)).toMatchObject({ code: 0 });
  expect(await run(`rm ${id}`)).toMatchObject({ code: 0, stdout: `${id}\n` });
  expect((await run(`show ${id}`)).code).toBe(3);
  const first = await add('--queue', 'gone');
  const second = await add('--queue', 'gone');
  expect((await run('remove --queue gone --force')).stdout).toBe(`${first}\n${second}\n`);
  expect(await run('queue create fresh --parallel 2')).toMatchObject({ code: 0 });
  expect(await run('queue pause --queue fresh')).toMatchObject({ code: 0 });
  expect(await run('queue unpause fresh')).toMatchObject({ code: 0 });
  expect(await run('queue del fresh')).toMatchObject({ code: 0 });
  for (const verb of ['disable', 'enable', 'rm'])
    expect(await run(`schedule ${verb} nightly`)).toMatchObject({ code: 0 });
});

test('aliases of dlq commands retry and delete dead jobs, and never act on all of them by mistake', async () => {
  const addDeadJob = async (id: string): Promise<void> => {
    await box.run(['enqueue', '--id', id, '-r', '1', 'exit 1']);
    await box.run(['worker', 'start', '--burst', '--quiet']);
  };
  await addDeadJob('d1');
  expectRefusal(await run('dlq retry all'), 3, /there is no job 'all'/);
  expect((await run('dlq retry all')).stderr).toContain('queuectl dlq retry --all');
  expect(await run('dlq requeue --id d1 --reset-attempts')).toMatchObject({ code: 0, stdout: 'd1\n' });
  await box.run(['worker', 'start', '--once', '--quiet']);
  expectRefusal(await run('dlq clear'), 2, /confirmation required: permanently delete/);
  expectRefusal(await run('dlq purge --all d1'), 2, /job ids or --all, not both/);
  expect(await run('dlq delete d1')).toMatchObject({ code: 0, stdout: 'd1\n' });
  expect((await run('dlq purge --all --force')).stdout).toBe('job1\n');
  expect((await run('dlq list')).stdout).toBe('');
});

test('config reset needs a key or --all, and resets settings that depend on each other', async () => {
  expectRefusal(await run('config set lock-timeout 5'), 2, /lease \(5s\) must be at least 3 times/);
  expect((await run('config set visibility_timeout 600')).stdout).toBe('lease = 10m\n');
  expect((await run('config set heartbeat 120')).stdout).toBe('heartbeat-interval = 2m\n');
  expect((await run('config set max-retries=7')).stdout).toBe('max-retries = 7\n');
  expectRefusal(await run('config reset'), 2, /the name of the setting, or --all, is missing/);
  expectRefusal(await run('config reset max-retries --all'), 2, /not both/);
  expect((await run('config delete max_retries')).stdout).toBe('max-retries = 3\n');
  expect((await run('config reset --all')).stdout.split('\n').sort().join(' ').trim()).toBe(
    'heartbeat-interval = 5s lease = 30s',
  );
  const { code, stdout } = await run('config reset --all --json');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '[]\n' });
});

test('every alias of a setting selects it, and config set prints the name and the value with its unit', async () => {
  for (const name of ['poll-interval', 'worker-poll-interval', 'worker_poll_interval', 'polling-interval'])
    expect((await run(`config set ${name} 2`)).stdout).toBe('poll-interval = 2s\n');
  expect((await run('config set poll-interval-ms 1500')).stdout).toBe('poll-interval = 1500ms\n');
  expect((await run('config set max-delay 90')).stdout).toBe('backoff-max = 90s\n');
  for (const key of SETTING_KEYS)
    for (const alias of settingAliases(key))
      expect([alias, (await run(`config get ${alias} --json=key`)).stdout]).toEqual([
        alias,
        `{"key":"${key}"}\n`,
      ]);
  await run('config reset --all');
}, 60_000);

test('aliases of worker start --detach start workers in the background, and the alias stop stops them', async () => {
  for (const line of [
    'worker start --daemonize',
    'start -d -n 2',
    'worker run --background --num_workers 1',
  ]) {
    expect((await run(line)).stdout).toMatch(/^started [12] workers? in the background/);
    expect((await run('stop --graceful --all')).stdout).toMatch(/^stopped [12] workers?\n/);
  }
}, 60_000);

test('init and its aliases report that there is nothing to do, and create nothing', async () => {
  const ownBox = sandbox();
  for (const line of ['init', 'init-db', 'setup', 'db init', 'init --json', 'init --db x.db']) {
    const { code, stdout, stderr } = await ownBox.run(line.split(' '));
    expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' });
    expect(stdout).toMatch(line.includes('--json') ? /^\{"location":/ : /^nothing to do: /);
  }
  expect(existsSync(ownBox.home)).toBe(false);
  expect(readdirSync(ownBox.directory)).toEqual([]);
  await ownBox.cleanup();
});

/** Command lines that are refused, with the error and a part of the hint. An empty hint is not checked. */
const REFUSED: [line: string, message: RegExp, hint: string][] = [
  ...Object.entries(COMMAND_HINTS).map(([word, hint]): [string, RegExp, string] => [
    word,
    /^error: unknown command /,
    hint,
  ]),
  ['worker --count 2', /worker requires a command/, 'queuectl worker start --count 2'],
  ['worker --count=2', /worker requires a command/, 'queuectl worker start --count=2'],
  ['worker start 3', /unexpected argument '3'/, 'queuectl worker start --count 3'],
  ['worker start -count 3', /unknown flag '-count'; did you mean --count\?/, ''],
  ['worker start --concurrency=x', /--concurrency/, ''],
  [
    "schedule --command backup.py --cron '0 2 * * *'",
    /schedule requires a command/,
    "queuectl schedule add NAME --command backup.py --cron '0 2 * * *'",
  ],
  ['config max-retries', /unknown command/, 'queuectl config get max-retries'],
  ['config max-retries 5', /unknown command/, 'queuectl config set max-retries 5'],
  ['config --max-retries 5', /requires a command/, 'queuectl config set max-retries 5'],
  ['config --max_retries=5', /requires a command/, 'queuectl config set max_retries 5'],
  ['config set --max-retries 5', /unknown flag/, 'queuectl config set max-retries 5'],
  ['config set max-retries', /the value is missing/, 'queuectl config set max-retries VALUE'],
  ['config set db-path x', /unknown setting 'db-path'/, 'QUEUECTL_DB'],
  ['config set log-level debug', /unknown setting/, 'queuectl worker start 2>worker.log'],
  ['config set worker-timeout 5', /unknown setting/, 'job-timeout'],
  ['config set default_priority 5', /unknown setting/, 'queuectl enqueue --priority N'],
  ['status job2', /unexpected argument 'job2'/, 'queuectl show job2'],
  ['dlq list job2', /unexpected argument/, 'queuectl dlq show job2'],
  ['queue status mail', /unexpected argument/, 'queuectl list --queue mail'],
  ['list job2', /unknown state 'job2'/, 'pending, processing'],
  ['enqueue echo hello', /unexpected argument 'hello'/, 'queuectl enqueue -- echo hello'],
  ["enqueue job9 'echo hello'", /unexpected argument/, "queuectl enqueue --id job9 'echo hello'"],
  ["run python -c 'print(1)'", /given more than once/, ''],
  ['requeue job2', /is not dead, cancelled or failed/, 'queuectl enqueue --again job2'],
  ['retry later', /is not dead, cancelled or failed/, 'queuectl explain later'],
  ['constructor', /unknown command 'constructor'/, 'queuectl help'],
  ['worker toString', /unknown command 'worker toString'/, 'queuectl worker'],
  ['help constructor', /unknown command or topic/, 'queuectl help'],
  ['config get constructor', /unknown setting/, 'queuectl config list'],
  ['-v', /unknown flag '-v'/, 'queuectl --version'],
  ['enqueue --retries x true', /--max-retries/, ''],
  ['enqueue --sandbox true', /unknown flag '--sandbox'/, ''],
  ["list --format '{locked_by}'", /unknown field 'locked_by'; did you mean 'worker_id'/, ''],
  ["list --format '{next_retry_at}'", /did you mean 'next_run_at'/, ''],
  ["list --format '{error_message}'", /did you mean 'last_error'/, ''],
  ["list --format '{lockedAt}'", /did you mean 'started_at'/, ''],
  ['retry --all', /unknown flag '--all'/, 'queuectl retry --state all'],
  ['enqueue echo -n hi', /unknown flag '-n'/, 'queuectl enqueue -- echo -n hi\n'],
  [
    'enqueue --priority 5 grep --colour x',
    /unknown flag '--colour'; did you mean --color\?/,
    'for help: queuectl help enqueue',
  ],
  ['enqueue --priority -5 ls --zebra x', /'--zebra'/, 'queuectl enqueue --priority -5 -- ls --zebra x\n'],
  ['enqueue ls dir --priority 5', /unexpected argument/, 'queuectl enqueue --priority 5 -- ls dir\n'],
  ['enqueue --zebra ls', /unknown flag '--zebra'/, 'for help: queuectl help enqueue'],
  ["enqueue 'ls dir' --zebra", /unknown flag '--zebra'/, 'for help: queuectl help enqueue'],
  ['enqueue --prioritty 5 ls dir', /did you mean --priority\?/, 'for help: queuectl help enqueue'],
  ['enqueue --job_timeout 5 ls', /did you mean --timeout\?/, 'for help: queuectl help enqueue'],
  ['enqueue --tags a=1,2 true', /'2' may be another tag or a part of the value of 'a=1'/, '--tag a=1,2, or'],
  ['queue pause p', /there is no queue 'p'$/, ''],
  ['list --running', /unknown flag '--running'$/, 'use --state processing'],
  ['list --failed', /unknown flag '--failed'$/, 'use --state failed'],
  ['list --held', /unknown flag '--held'$/, 'use --waiting-for held'],
  ['list --no_worker', /unknown flag '--no_worker'$/, 'use --waiting-for no_worker'],
  ['list --waiting', /unknown flag '--waiting'$/, '--waiting-for REASON'],
  ['list --sort priority', /unknown flag '--sort'$/, '| sort -n'],
  ['list --since 1h', /unknown flag '--since'$/, 'queuectl events --since 1h'],
  ['list --state paused', /'paused' is not a state but a reason/, 'use --waiting-for queue_paused'],
  ['worker stat', /did you mean 'worker status'\?/, ''],
  ['config rest lease', /did you mean 'config reset'\?/, ''],
  ['remvoe job2', /did you mean 'remove'\?/, ''],
  ['kil job2', /did you mean 'kill'\?/, ''],
  ['purg', /unknown command 'purg'$/, 'queuectl dlq purge'],
  ['pasue mail', /unknown command 'pasue'$/, 'queuectl queue pause QUEUE'],
  ['worker stop --all w1', /only one of worker ids, --host and --all/, ''],
  ['stop job2', /no worker/, 'queuectl worker list'],
];

test.each(REFUSED)('%s is refused with an explanation', async (line, message, hint) => {
  const jobsBefore = await box.json(['list']);
  const result = await run(line);
  expect(result.code).toBeGreaterThan(0);
  expectRefusal(result, result.code, message);
  expect(result.stderr).toContain(hint);
  expect(await box.json(['list'])).toEqual(jobsBefore);
});

test('a destructive command is suggested for a typing error, but not for a word that merely resembles it', async () => {
  const resemblingWords = `pauze pausing purse council dilute resumed remote repair support suspect stopped
    reset store restarted canal select deploy prefer`.split(/\s+/);
  for (const word of resemblingWords) {
    const { code, stderr } = await run(word);
    expect([word, code]).toEqual([word, 2]);
    const guess = /did you mean '([^']+)'/.exec(stderr)?.[1] ?? '';
    expect([word, DESTRUCTIVE.has(guess)]).toEqual([word, false]);
  }
  expect((await run('delte job2')).stderr).toContain("did you mean 'delete'?");
});
