import { expect } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

type Job = Record<string, unknown>;

test('enqueue --hold adds a job that runs only after release, also with a dependency', async (box) => {
  const holdArgs = ['enqueue', '--hold', '--json'];
  for (const flags of [
    ['--id', 'a'],
    ['--id', 'b', '--after', 'a'],
    ['--id', 'c', '--unique', 'k'],
  ])
    expect((await box.run([...holdArgs, ...flags, 'true'])).code).toBe(0);
  await box.json(['enqueue', '{"id":"d","command":"true","held":true}']);
  await box.run(['enqueue', '--id', 'free', 'true']);
  await box.start(['worker', 'start', '--drain']).exit;
  const states = async (): Promise<string> => (await box.run(['list', '--format', '{id}={state}'])).stdout;
  expect((await states()).split('\n').sort().join(' ').trim()).toBe(
    'a=pending b=pending c=pending d=pending free=completed',
  );
  for (const id of ['a', 'b', 'c', 'd'])
    expect((await box.run(['explain', id])).stdout).toContain('queuectl release');
  expect((await box.run(['release', 'b', 'c', 'd'])).code).toBe(0);
  await box.start(['worker', 'start', '--drain']).exit;
  expect(await box.json(['show', 'b'])).toMatchObject({ state: 'pending' });
  await box.run(['release', 'a']);
  await box.start(['worker', 'start', '--drain']).exit;
  expect((await states()).split('\n').sort().join(' ').trim()).toBe(
    'a=completed b=completed c=completed d=completed free=completed',
  );
  const { stdout } = await box.run(['enqueue', '--hold', 'true']);
  expect((await box.run(['db', 'check'])).code).toBe(0);
  expect(await box.json(['show', stdout.trim()])).not.toHaveProperty('hold');
});

test('enqueue --again adds a new job with the definition of an earlier one, and flags override its fields', async (box) => {
  const definition = {
    command: 'cat; exit 3',
    ...{ name: 'report', queue: 'mail', tags: { team: 'web' }, priority: 7, max_retries: 1 },
    ...{ backoff: 'fixed', retry_delay_ms: 50, no_retry_on: [5], env: { A: '1' }, secret_env: ['HOME'] },
    ...{ stdin: 'hello', split_output: true, on_dead: 'true', unique_key: 'k', cwd: '/' },
  };
  await box.json(['enqueue', JSON.stringify({ ...definition, id: 'first', timeout: 'none' })]);
  await box.run(['config', 'set', 'job-timeout', '1h']);
  await box.start(['worker', 'start', '--drain']).exit;
  const again = await box.json<Job>(['enqueue', '--again', 'fir']);
  expect(again).toMatchObject({ ...definition, state: 'pending', attempts: 0, timeout_ms: null });
  expect(again.id).not.toBe('first');
  const existing = await box.json<Job>(['enqueue', '--again', 'first']);
  expect(existing).toMatchObject({ id: again.id, existing: true });
  const flags = ['--unique', 'k2', '--priority', '9', '--env', 'B=2', '--id', 'second', '--hold'];
  expect(await box.json(['enqueue', '--again', 'first', ...flags])).toMatchObject({
    ...definition,
    ...{ id: 'second', priority: 9, env: { B: '2' }, unique_key: 'k2' },
  });
  expectRefusal(await box.run(['enqueue', '--again', 'nobody']), 3, /no job 'nobody'/);
  expectRefusal(await box.run(['enqueue', '--again', 'first', 'true']), 2, /given more than once/);
});

test('enqueue --again keeps the argv of a job, but not its delay and its dependencies', async (box) => {
  await box.run(['enqueue', '--id', 'argv', '--', 'printf', '%s', 'a b']);
  await box.run(['enqueue', '--id', 'late', '--delay', '1h', '--after', 'argv', 'true']);
  expect(await box.json(['enqueue', '--again', 'argv'])).toMatchObject({ argv: ['printf', '%s', 'a b'] });
  expect(await box.json(['enqueue', '--again', 'late'])).toMatchObject({ run_at: null, depends_on: [] });
  expect(await box.json(['enqueue', '--again', 'late', '--delay', '2h'])).toMatchObject({
    run_at: expect.any(String),
  });
});

test('the error of requeue for a running job suggests cancel and retry, or enqueue --again', async (box) => {
  await box.startWorkers();
  await box.run(['enqueue', '--id', 'busy', 'sleep 100']);
  await until(async () => (await box.json<Job>(['show', 'busy'])).state === 'processing', 'busy runs');
  const result = await box.run(['requeue', 'busy']);
  expectRefusal(result, 4, /job 'busy'/);
  expect(result.stderr).toContain('queuectl cancel busy, then queuectl retry busy');
  expect(result.stderr).toContain('queuectl enqueue --again busy');
  expect((await box.run(['dlq', 'retry', 'busy'])).stderr).toContain('queuectl enqueue --again busy');
});

test('enqueue @FILE reads the file, and the name of a JSON file is refused as a command unless it is executable', async (box) => {
  const file = join(box.directory, 'job.json');
  writeFileSync(file, '{"id":"from-file","command":"true"}');
  expect(await box.run(['enqueue', '@job.json'])).toMatchObject({ code: 0, stdout: 'from-file\n' });
  writeFileSync(file, '[{"command":"true"},{"command":"false"}]');
  expect(await box.json(['enqueue', '@job.json', '--queue', 'mail'])).toHaveLength(2);
  const jobsBefore = await box.json(['list']);
  for (const args of [
    ['enqueue', '-f', 'job.json'],
    ['enqueue', 'job.json'],
    ['enqueue', './job.json'],
    ['run', 'job.json'],
  ]) {
    const result = await box.run(args);
    const code = args[0] === 'run' || args.includes('-f') ? 125 : 2;
    expectRefusal(result, code, /job\.json is a file of jobs, not a command/);
    expect(result.stderr).toContain('queuectl enqueue --file');
  }
  expectRefusal(await box.run(['run', '@job.json']), 125, /run takes one job/);
  expectRefusal(await box.run(['enqueue', '@missing.json']), 2, /missing\.json does not exist/);
  expectRefusal(await box.run(['enqueue', '@']), 2, /file name after @ is missing/);
  expectRefusal(await box.run(['enqueue', '@job.json', '--file', 'job.json']), 2, /only once/);
  expect(await box.json(['list'])).toEqual(jobsBefore);
  // The name is accepted as a command if the file is executable or does not exist.
  chmodSync(file, 0o755);
  expect((await box.run(['enqueue', './job.json'])).code).toBe(0);
  expect((await box.run(['enqueue', 'other.json'])).code).toBe(0);
});

test('edit --env replaces the variables of a waiting job', async (box) => {
  await box.run([
    'enqueue',
    '--id',
    'a',
    '--env',
    'OLD=1',
    '--secret-env',
    'SECRET',
    '--hold',
    'echo $OLD$NEW',
  ]);
  expect((await box.run(['edit', 'a', '--env', 'NEW=2', '--env', 'X=a=b'])).code).toBe(0);
  expect(await box.json(['show', 'a'])).toMatchObject({ env: { NEW: '2', X: 'a=b' } });
  expect((await box.run(['edit', 'a', '--inherit-env', 'NEW'], { env: { NEW: '3' } })).code).toBe(0);
  expect(await box.json(['show', 'a'])).toMatchObject({ env: { NEW: '3' } });
  expectRefusal(await box.run(['edit', 'a', '--env', 'SECRET=x']), 2, /SECRET is in both env and secret_env/);
  expectRefusal(await box.run(['edit', 'a', '--env', 'bad']), 2, /--env must be NAME=VALUE/);
  expectRefusal(await box.run(['edit', 'a', '--env', 'QUEUECTL_FENCE=1']), 2, /cannot be set/);
  const { stderr } = await box.run(['edit', 'a', '--env', 'API_TOKEN=hunter2']);
  expect(stderr).toContain('API_TOKEN looks like a secret');
  await box.run(['edit', 'a', '--env', 'NEW=4']);
  await box.run(['release', 'a']);
  await box.start(['worker', 'start', '--drain'], { env: { SECRET: 's' } }).exit;
  expect((await box.run(['logs', 'a'])).stdout).toBe('4\n');
});

const RUNTIME_VARIABLES = {
  BUN_INSTALL: '/x',
  BUN_CONFIG_X: '1',
  NODE_OPTIONS: '--max-old-space-size=99',
  TRACEPARENT: 'a',
  TRACESTATE: 'b',
  BAGGAGE: 'c',
};

test("--inherit-env '*' copies all variables except those of the shell, the runtime, traces and queuectl, and warns about secrets", async (box) => {
  const env = {
    LC_ONE: '1',
    LC_TWO: '2',
    GITHUB_TOKEN: 't0ken',
    DB_PASSWORD: 'pass',
    QUEUECTL_NO_INPUT: '1',
    ...RUNTIME_VARIABLES,
  };
  const inherited = await box.run(['enqueue', '--inherit-env', '*', '--json', 'true'], { env });
  const job = JSON.parse(inherited.stdout) as { env: Record<string, string> };
  expect(job.env).toMatchObject({
    LC_ONE: '1',
    LC_TWO: '2',
    GITHUB_TOKEN: 't0ken',
    PATH: expect.any(String),
  });
  const skipped = ['QUEUECTL_NO_INPUT', 'QUEUECTL_HOME', 'PWD', 'OLDPWD', 'SHLVL', '_'];
  for (const name of [...skipped, ...Object.keys(RUNTIME_VARIABLES)])
    expect(job.env).not.toHaveProperty(name);
  const named = await box.run(['enqueue', '--inherit-env', 'NODE_OPTIONS', '--json', 'true'], { env });
  expect(JSON.parse(named.stdout).env).toEqual({ NODE_OPTIONS: RUNTIME_VARIABLES.NODE_OPTIONS });
  expect(inherited.stderr).toContain('2 variables look like secrets');
  expect(inherited.stderr).toContain('GITHUB_TOKEN');
  const secretFlags = ['--secret-env', 'GITHUB_TOKEN,DB_PASSWORD'];
  const withSecrets = await box.run(['enqueue', '--inherit-env', '*', ...secretFlags, '--json', 'true'], {
    env,
  });
  expect(withSecrets.stderr).toBe('');
  expect(JSON.parse(withSecrets.stdout).env).not.toHaveProperty('GITHUB_TOKEN');
  const selected = await box.run(['enqueue', '--inherit-env', 'LC_ONE,LC_T*', '--json', 'true'], { env });
  expect(JSON.parse(selected.stdout).env).toEqual({ LC_ONE: '1', LC_TWO: '2' });
  expectRefusal(await box.run(['enqueue', '--inherit-env', 'NO_SUCH_*', 'true'], { env }), 2, /no variable/);
  expectRefusal(await box.run(['enqueue', '--inherit-env', 'NO_SUCH', 'true'], { env }), 2, /is not set/);
});

test('--env overrides --inherit-env, which overrides --env-file', async (box) => {
  const file = join(box.directory, 'vars');
  writeFileSync(file, '# comment\n\nexport A=file\r\nB=file=1\nC=file\n');
  const flags = ['--env-file', file, '--inherit-env', 'B,D', '--env', 'C=given'];
  await box.run(['enqueue', '--id', 'job', ...flags, 'true'], { env: { B: 'here', D: 'there' } });
  expect(await box.json(['show', 'job'])).toMatchObject({
    env: { A: 'file', B: 'here', C: 'given', D: 'there' },
  });
  expect((await box.run(['enqueue', '--inherit-env', 'NOT_SET_ANYWHERE', 'true'])).code).toBe(2);
  expect((await box.run(['enqueue', '--env-file', '/nowhere', 'true'])).code).toBe(2);
});
