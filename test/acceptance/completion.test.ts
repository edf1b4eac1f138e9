import { afterAll, beforeAll, expect, test as plainTest } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXECUTABLE, lines, sandbox } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

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
async function complete(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await box.run(['__complete', ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t')[0]!);
}

plainTest('completion offers commands, their subcommands and help topics', async () => {
  expect(await complete('st')).toEqual(['status', 'stats']);
  expect(await complete('dlq', '')).toEqual(['list', 'show', 'retry', 'purge']);
  expect(await complete('--db', 'x', '--quiet', 'work')).toEqual(['worker']);
  expect(await complete('help', 'exi')).toEqual(['exit-codes']);
  expect(await complete('help', 'dlq', 'p')).toEqual(['purge']);
  expect(await complete('nonsense', '')).toEqual([]);
  expect(await complete()).toContain('enqueue');
});

plainTest(
  'completion offers the flags of the command and the global flags, and repeats a flag only if it is repeatable',
  async () => {
    expect(await complete('list', '--')).toEqual(
      expect.arrayContaining(['--state', '--queue', '--json', '--db']),
    );
    expect(await complete('list', '--j')).toEqual(['--json']);
    expect(await complete('list', '--json', '--j')).toEqual([]);
    expect(await complete('enqueue', '--env', 'A=1', '--en')).toEqual(['--env', '--env-file']);
    expect(await complete('worker', 'start', '--dr')).toEqual(['--drain']);
    expect(await complete('--v')).toEqual(['--version']);
  },
);

plainTest(
  'completion offers states, queues, ids, settings and fixed values, also after = and a comma',
  async () => {
    expect(await complete('list', '--state', 'd')).toEqual(['dead']);
    expect(await complete('list', '-s', 'pending,dea')).toEqual(['pending,dead']);
    expect(await complete('list', '--state=fa')).toEqual(['--state=failed']);
    expect(await complete('list', '--waiting-for', 'held,no')).toEqual(['held,no_worker']);
    expect((await complete('list', '--queue', '')).sort()).toEqual(['mail', 'reports']);
    await box.run(['queue', 'set', 'zoo', '--concurrency', '1']);
    await box.run(['queue', 'pause', 'zoo']);
    expect(await complete('queue', 'resume', '')).toEqual(['zoo', 'mail', 'reports']);
    expect(await complete('queue', 'pause', '')).toEqual(['mail', 'reports', 'zoo']);
    expect(await complete('show', 'alpha')).toEqual(['alpha-1', 'alpha:2']);
    expect(await complete('dlq', 'retry', '')).toEqual(['alpha-1']);
    expect(await complete('dlq', 'retry', 'alpha-1', '')).toEqual(['alpha-1']);
    expect(await complete('config', 'get', 'job')).toEqual(['job-timeout']);
    expect(await complete('enqueue', '-p', 'u')).toEqual(['urgent']);
    expect(await complete('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await complete('enqueue', '--file', '')).toEqual([':files']);
    expect(await complete('enqueue', '--cwd', '')).toEqual([':dirs']);
    expect(await complete('enqueue', '--', 'x', '')).toEqual([':files']);
    const { stdout } = await box.run(['__complete', 'show', 'alpha:']);
    expect(stdout).toBe('alpha:2\tpending true\\tx\n');
  },
);

plainTest(
  'completion offers workers to stop, schedules by name, and states that are not in the list yet',
  async () => {
    const workers = await box.startWorkers('--count', '2');
    const ids = (await box.json<{ id: string }[]>(['worker', 'list'])).map(({ id }) => id);
    expect((await complete('worker', 'stop', '')).sort()).toEqual(ids.sort());
    expect(await complete('worker', 'stop', ids[0]!.slice(0, 6))).toEqual([ids[0]!]);
    workers.child.kill('SIGTERM');
    await workers.exit;
    await box.run(['schedule', 'add', 'nightly', '--cron', '0 2 * * *', 'true']);
    await box.run(['schedule', 'add', 'hourly', '--every', '1h', 'true']);
    await box.run(['schedule', 'pause', 'nightly']);
    for (const verb of ['run', 'pause', 'show', 'edit', 'remove'])
      expect([verb, await complete('schedule', verb, '')]).toEqual([verb, ['hourly', 'nightly']]);
    expect(await complete('schedule', 'resume', '')).toEqual(['nightly', 'hourly']);
    expect(await complete('schedule', 'add', '')).toEqual([]);
    expect(await complete('enqueue', '--name', '')).toEqual([]);
    expect(await complete('list', '--state', 'dead,c')).toEqual(['dead,completed', 'dead,cancelled']);
    expect(await complete('list', '--state', 'completed,c')).toEqual(['completed,cancelled']);
    expect(await complete('list', 'fai')).toEqual(['failed']);
    expect(await complete('cancel', '--signal', 'I')).toEqual(['INT']);
    expect(await complete('enqueue', '--again', 'alpha')).toEqual(['alpha-1', 'alpha:2']);
  },
);

plainTest('completion understands aliases before the cursor, and offers none itself', async () => {
  expect(await complete('rm', 'alpha')).toEqual(['alpha-1', 'alpha:2']);
  expect(await complete('job', 'show', 'be')).toEqual(['beta 3']);
  expect(await complete('workers', 'st')).toEqual(['start', 'stop']);
  expect(await complete('list', '--status', 'dea')).toEqual(['dead']);
  expect(await complete('worker', 'start', '--daemon', '--det')).toEqual([]);
  expect(await complete('r')).not.toContain('rm');
  expect(await complete('config', 'show', 'job')).toEqual(['job-timeout']);
});

test('completion creates and changes nothing', async (ownBox) => {
  for (const words of [
    ['show', ''],
    ['list', '--queue', ''],
    ['show', '--db', 'other.db', ''],
  ]) {
    expect(await ownBox.run(['__complete', ...words])).toEqual({ code: 0, stdout: '', stderr: '' });
  }
  expect(readdirSync(ownBox.directory)).toEqual([]);
  await ownBox.run(['enqueue', '--id', 'a', '--db', 'other.db', 'true']);
  const contentBefore = readFileSync(join(ownBox.directory, 'other.db'));
  const filesBefore = readdirSync(ownBox.directory);
  const completed = await ownBox.run(['__complete', 'show', '--db', 'other.db', '']);
  expect(completed.stdout).toStartWith('a\t');
  expect(readdirSync(ownBox.directory)).toEqual(filesBefore);
  expect(readFileSync(join(ownBox.directory, 'other.db'))).toEqual(contentBefore);
  for (const bad of ['/', '/etc/passwd', 'postgres://nowhere/x'])
    expect(await ownBox.run(['__complete', 'show', '--db', bad, ''])).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
});

plainTest('an unknown shell is refused', async () => {
  const { code, stderr } = await box.run(['completion', 'tcsh']);
  expect(code).toBe(2);
  expect(stderr).toContain('bash, zsh, fish');
});

/** Types keys into an interactive shell on a terminal of its own. */
async function typeInto(shell: string, keys: string): Promise<void> {
  const { code } = await box.run([], {
    env,
    stdin: keys,
    through: ['sh', '-c', `exec script -qec '${shell}' /dev/null`],
  });
  expect(code).toBe(0);
}

const isMissing = (...programs: string[]) => programs.some((program) => Bun.which(program) === null);

plainTest.skipIf(isMissing('bash', 'script'))(
  'bash completes typed commands, flags, values and ids',
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
    await typeInto('bash --norc --noprofile -i', `${keys.join('\n')}\n`);
    const contentOf = (name: string) => readFileSync(join(box.directory, name), 'utf8');
    expect(contentOf('version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(JSON.parse(contentOf('flags'))).toMatchObject([{ id: 'alpha-1', state: 'dead' }]);
    expect(contentOf('id')).toStartWith('id\talpha-1\n');
    expect(contentOf('colon')).toStartWith('id\talpha:2\n');
    expect(contentOf('space')).toStartWith('id\tbeta 3\n');
    expect(lines(join(box.directory, 'equals'))).toEqual(['beta 3']);
    expect(lines(join(box.directory, 'comma'))).toEqual(['beta 3', 'alpha:2', 'alpha-1']);
    expect(contentOf('file')).toBe('filed\n');
  },
);

plainTest.skipIf(isMissing('zsh', 'script'))('zsh completes typed commands, flags and ids', async () => {
  const keys = [
    'autoload -U compinit && compinit -u',
    'source <(queuectl completion zsh)',
    'queuectl vers\t >version-z',
    'queuectl li\t--sta\tdea\t--js\t >flags-z',
    'queuectl show be\t >id-z',
    'exit',
  ];
  await typeInto('zsh -f -i', `${keys.join('\n')}\n`);
  const contentOf = (name: string) => readFileSync(join(box.directory, name), 'utf8');
  expect(contentOf('version-z')).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(JSON.parse(contentOf('flags-z'))).toMatchObject([{ id: 'alpha-1' }]);
  expect(contentOf('id-z')).toStartWith('id\tbeta 3\n');
});

plainTest.skipIf(isMissing('fish'))('fish completes commands, flags and ids', async () => {
  const completionOf = (line: string) => `complete -C '${line}' | string split -f1 \\t`;
  const script = `queuectl completion fish | source; ${['queuectl vers', 'queuectl list --sta', 'queuectl show be'].map(completionOf).join('; ')}`;
  const { stdout } = await box.run([], {
    env,
    through: ['sh', '-c', `fish --no-config -c '${script.replaceAll("'", `'\\''`)}'`],
  });
  expect(stdout.trim().split('\n')).toEqual(['version', '--state', 'beta 3']);
});

plainTest('there is a completion script for every supported shell', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await box.run(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain('__complete');
  }
});
