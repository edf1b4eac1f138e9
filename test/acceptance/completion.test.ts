import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXECUTABLE, inSandbox, lines, sandbox } from '../support/queuectl.ts';

const box = sandbox();
const bin = join(box.directory, 'bin');
const env = { PATH: `${bin}:${process.env.PATH}`, TERM: 'dumb', INPUTRC: '/dev/null' };

beforeAll(async () => {
  mkdirSync(bin);
  symlinkSync(EXECUTABLE, join(bin, 'queuectl'));
  const jobs = [
    { id: 'alpha-1', command: 'exit 1', max_retries: 1, queue: 'mail' },
    { id: 'alpha:2', command: 'true\tx', delay: 3600, queue: 'mail' },
    { id: 'beta 3', command: 'true', delay: 3600, queue: 'reports' },
  ];
  expect((await box.run(['enqueue', JSON.stringify(jobs)])).code).toBe(0);
  expect(await box.start(['worker', 'start', '--drain', '--quiet']).exit).toBe(0);
});
afterAll(() => box.cleanup());

/** Returns the values that the hidden completion command offers for the words up to the cursor. */
async function values(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await box.run(['__complete', ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t')[0]!);
}

test('completion offers commands, their subcommands and help topics', async () => {
  expect(await values('st')).toEqual(['status', 'stats']);
  expect(await values('dlq', '')).toEqual(['list', 'show', 'retry', 'purge']);
  expect(await values('--db', 'x', '--quiet', 'work')).toEqual(['worker']);
  expect(await values('help', 'exi')).toEqual(['exit-codes']);
  expect(await values('help', 'dlq', 'p')).toEqual(['purge']);
  expect(await values('nonsense', '')).toEqual([]);
  expect(await values()).toContain('enqueue');
});

test("completion offers the command's own flags and the global flags, once each unless repeatable", async () => {
  expect(await values('list', '--')).toEqual(
    expect.arrayContaining(['--state', '--queue', '--json', '--db']),
  );
  expect(await values('list', '--j')).toEqual(['--json']);
  expect(await values('list', '--json', '--j')).toEqual([]);
  expect(await values('enqueue', '--env', 'A=1', '--en')).toEqual(['--env', '--env-file']);
  expect(await values('worker', 'start', '--dr')).toEqual(['--drain']);
  expect(await values('--v')).toEqual(['--version']);
});

test('completion offers states, queues, ids, settings and fixed values, also after = and a comma', async () => {
  expect(await values('list', '--state', 'd')).toEqual(['dead']);
  expect(await values('list', '-s', 'pending,dea')).toEqual(['pending,dead']);
  expect(await values('list', '--state=fa')).toEqual(['--state=failed']);
  expect(await values('list', '--waiting-for', 'held,no')).toEqual(['held,no_worker']);
  expect((await values('list', '--queue', '')).sort()).toEqual(['mail', 'reports']);
  await box.run(['queue', 'set', 'zoo', '--concurrency', '1']);
  await box.run(['queue', 'pause', 'zoo']);
  expect(await values('queue', 'resume', '')).toEqual(['zoo', 'mail', 'reports']);
  expect(await values('queue', 'pause', '')).toEqual(['mail', 'reports', 'zoo']);
  expect(await values('show', 'alpha')).toEqual(['alpha-1', 'alpha:2']);
  expect(await values('dlq', 'retry', '')).toEqual(['alpha-1']);
  expect(await values('dlq', 'retry', 'alpha-1', '')).toEqual(['alpha-1']);
  expect(await values('config', 'get', 'job')).toEqual(['job-timeout']);
  expect(await values('enqueue', '-p', 'u')).toEqual(['urgent']);
  expect(await values('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect(await values('enqueue', '--file', '')).toEqual([':files']);
  expect(await values('enqueue', '--cwd', '')).toEqual([':dirs']);
  expect(await values('enqueue', '--', 'x', '')).toEqual([':files']);
  const { stdout } = await box.run(['__complete', 'show', 'alpha:']);
  expect(stdout).toBe('alpha:2\tpending true\\tx\n');
});

test('completion offers workers to stop, schedules by name, and states that are not in the list yet', async () => {
  const workers = await box.startWorkers('--count', '2');
  const ids = (await box.json<{ id: string }[]>(['worker', 'list'])).map(({ id }) => id);
  expect((await values('worker', 'stop', '')).sort()).toEqual(ids.sort());
  expect(await values('worker', 'stop', ids[0]!.slice(0, 6))).toEqual([ids[0]!]);
  workers.child.kill('SIGTERM');
  await workers.exit;
  await box.run(['schedule', 'add', 'nightly', '--cron', '0 2 * * *', 'true']);
  await box.run(['schedule', 'add', 'hourly', '--every', '1h', 'true']);
  await box.run(['schedule', 'pause', 'nightly']);
  for (const verb of ['run', 'pause', 'show', 'edit', 'remove'])
    expect([verb, await values('schedule', verb, '')]).toEqual([verb, ['hourly', 'nightly']]);
  expect(await values('schedule', 'resume', '')).toEqual(['nightly', 'hourly']);
  expect(await values('schedule', 'add', '')).toEqual([]);
  expect(await values('enqueue', '--name', '')).toEqual([]);
  expect(await values('list', '--state', 'dead,c')).toEqual(['dead,completed', 'dead,cancelled']);
  expect(await values('list', '--state', 'completed,c')).toEqual(['completed,cancelled']);
  expect(await values('list', 'fai')).toEqual(['failed']);
  expect(await values('cancel', '--signal', 'I')).toEqual(['INT']);
  expect(await values('enqueue', '--again', 'alpha')).toEqual(['alpha-1', 'alpha:2']);
});

test('completion understands aliases before the cursor, and offers none itself', async () => {
  expect(await values('rm', 'alpha')).toEqual(['alpha-1', 'alpha:2']);
  expect(await values('job', 'show', 'be')).toEqual(['beta 3']);
  expect(await values('workers', 'st')).toEqual(['start', 'stop']);
  expect(await values('list', '--status', 'dea')).toEqual(['dead']);
  expect(await values('worker', 'start', '--daemon', '--det')).toEqual([]);
  expect(await values('r')).not.toContain('rm');
  expect(await values('config', 'show', 'job')).toEqual(['job-timeout']);
});

test(
  'completion creates and changes nothing',
  inSandbox(async (ownBox) => {
    for (const words of [
      ['show', ''],
      ['list', '--queue', ''],
      ['show', '--db', 'other.db', ''],
    ]) {
      expect(await ownBox.run(['__complete', ...words])).toEqual({ code: 0, stdout: '', stderr: '' });
    }
    expect(readdirSync(ownBox.directory)).toEqual([]);
    await ownBox.run(['enqueue', '--id', 'a', '--db', 'other.db', 'true']);
    const before = readFileSync(join(ownBox.directory, 'other.db'));
    const files = readdirSync(ownBox.directory);
    const seen = await ownBox.run(['__complete', 'show', '--db', 'other.db', '']);
    expect(seen.stdout).toStartWith('a\t');
    expect(readdirSync(ownBox.directory)).toEqual(files);
    expect(readFileSync(join(ownBox.directory, 'other.db'))).toEqual(before);
    for (const bad of ['/', '/etc/passwd', 'postgres://nowhere/x'])
      expect(await ownBox.run(['__complete', 'show', '--db', bad, ''])).toEqual({
        code: 0,
        stdout: '',
        stderr: '',
      });
  }),
);

test('an unknown shell is refused', async () => {
  const { code, stderr } = await box.run(['completion', 'tcsh']);
  expect(code).toBe(2);
  expect(stderr).toContain('bash, zsh, fish');
});

/** Types keys into an interactive shell on a terminal of its own. */
async function type(shell: string, keys: string): Promise<void> {
  const { code } = await box.run([], {
    env,
    stdin: keys,
    through: ['sh', '-c', `exec script -qec '${shell}' /dev/null`],
  });
  expect(code).toBe(0);
}

const lacks = (...programs: string[]) => programs.some((program) => Bun.which(program) === null);

test.skipIf(lacks('bash', 'script'))(
  'bash completes commands, flags, values and ids as they are typed',
  async () => {
    const keys = [
      'source <(queuectl completion bash)',
      'queuectl vers\t >version',
      'queuectl li\t --sta\t dea\t --js\t >flags',
      'queuectl sho\t alpha-\t >id',
      'queuectl show alpha:\t >colon',
      'queuectl show be\t >space',
      'queuectl list --queue=rep\t -q >equals',
      'queuectl list --state dead,p\ten\t -q >comma',
      'queuectl enqueue -q --id filed --queue x --file jo\t >file',
      'exit',
    ];
    writeFileSync(join(box.directory, 'jobs.txt'), 'true\n');
    await type('bash --norc --noprofile -i', `${keys.join('\n')}\n`);
    const out = (name: string) => readFileSync(join(box.directory, name), 'utf8');
    expect(out('version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(JSON.parse(out('flags'))).toMatchObject([{ id: 'alpha-1', state: 'dead' }]);
    expect(out('id')).toStartWith('id\talpha-1\n');
    expect(out('colon')).toStartWith('id\talpha:2\n');
    expect(out('space')).toStartWith('id\tbeta 3\n');
    expect(lines(join(box.directory, 'equals'))).toEqual(['beta 3']);
    expect(lines(join(box.directory, 'comma'))).toEqual(['beta 3', 'alpha:2', 'alpha-1']);
    expect(out('file')).toBe('filed\n');
  },
);

test.skipIf(lacks('zsh', 'script'))('zsh completes commands, flags and ids as they are typed', async () => {
  const keys = [
    'autoload -U compinit && compinit -u',
    'source <(queuectl completion zsh)',
    'queuectl vers\t >version-z',
    'queuectl li\t--sta\tdea\t--js\t >flags-z',
    'queuectl show be\t >id-z',
    'exit',
  ];
  await type('zsh -f -i', `${keys.join('\n')}\n`);
  const out = (name: string) => readFileSync(join(box.directory, name), 'utf8');
  expect(out('version-z')).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(JSON.parse(out('flags-z'))).toMatchObject([{ id: 'alpha-1' }]);
  expect(out('id-z')).toStartWith('id\tbeta 3\n');
});

test.skipIf(lacks('fish'))('fish completes commands, flags and ids', async () => {
  const ask = (line: string) => `complete -C '${line}' | string split -f1 \\t`;
  const script = `queuectl completion fish | source; ${['queuectl vers', 'queuectl list --sta', 'queuectl show be'].map(ask).join('; ')}`;
  const { stdout } = await box.run([], {
    env,
    through: ['sh', '-c', `fish --no-config -c '${script.replaceAll("'", `'\\''`)}'`],
  });
  expect(stdout.trim().split('\n')).toEqual(['version', '--state', 'beta 3']);
});

test('there is a completion script for every supported shell', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await box.run(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain('__complete');
  }
});
