/** A title that starts with S and a number covers the attack of that number in attack-coverage.test.ts. */

import { expect, test as plainTest } from 'bun:test';
import { chmodSync, mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue, inSandbox, type Sandbox, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

const isRoot = process.getuid!() === 0;
const countRootWarnings = (text: string): number => text.split('run as root').length - 1;

plainTest.skipIf(!isRoot).concurrent(
  'S18: workers that run as root warn once, however many they are, and not at all with --quiet',
  inSandbox(async (box) => {
    const foreground = await box.run(['worker', 'start', '--drain', '--count', '2']);
    expect(foreground.stderr).toMatch(/^warning: the workers run as root, so every job has full control/m);
    expect(countRootWarnings(foreground.stderr)).toBe(1);
    const detached = await box.run(['worker', 'start', '--detach', '--json']);
    expect(countRootWarnings(detached.stderr)).toBe(1);
    expect(countRootWarnings(readFileSync(JSON.parse(detached.stdout).log, 'utf8'))).toBe(0);
    expect(countRootWarnings((await box.run(['worker', 'start', '--drain', '--quiet'])).stderr)).toBe(0);
  }),
);

/** Variables of the worker. Without --secret-env, a clean environment inherits only those in the second line. */
const WORKER_ENV = {
  ...{ SSH_AUTH_SOCK: '/agent', AWS_SECRET_ACCESS_KEY: 'hush', MY_TOKEN: 'granted', OTHER: 'other' },
  ...{ TZ: 'Europe/Berlin', LC_ALL: 'C' },
};
const PRINT_ENV = 'env | sort';

/** Waits until a job that runs PRINT_ENV has completed, and returns the variables that it printed. */
async function environmentOf(box: Sandbox, id: string): Promise<string[]> {
  await untilState(box, id, 'completed');
  return (await box.run(['logs', id])).stdout.trim().split('\n');
}

test('S24: a clean environment has only the basic variables, the given ones and the granted secrets', async (box) => {
  await box.run(['enqueue', '--id', 'all', PRINT_ENV]);
  const clean = ['--clean-env', '--secret-env', 'MY_TOKEN', '--env', 'GIVEN=1'];
  await box.run(['enqueue', '--id', 'clean', ...clean, PRINT_ENV]);
  expect(await box.json(['show', 'clean'])).toMatchObject({ clean_env: true });
  expect((await box.run(['show', 'clean'])).stdout).toMatch(/clean environment\s+yes/);
  await box.run(['worker', 'start', '--drain', '--quiet'], { env: WORKER_ENV });
  expect(await environmentOf(box, 'all')).toContain('SSH_AUTH_SOCK=/agent');
  const found = await environmentOf(box, 'clean');
  for (const one of ['MY_TOKEN=granted', 'GIVEN=1', 'TZ=Europe/Berlin', 'LC_ALL=C', 'QUEUECTL_JOB_ID=clean'])
    expect(found).toContain(one);
  const names = found
    .map((line) => line.split('=')[0]!)
    .filter((name) => !/^(QUEUECTL_(JOB_ID|ATTEMPT|FENCE|QUEUE|RUN)|_|SHLVL|OLDPWD)$/.test(name));
  const allowed = [
    'GIVEN',
    'HOME',
    'LANG',
    'LC_ALL',
    'LOGNAME',
    'MY_TOKEN',
    'PATH',
    'PWD',
    'SHELL',
    'TMPDIR',
    'TZ',
    'USER',
  ];
  expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
});

test('S24: workers with --clean-env give every job a clean environment', async (box) => {
  await box.run(['enqueue', '--id', 'job', PRINT_ENV]);
  await box.run(['enqueue', '--id', 'secret', '--secret-env', 'MY_TOKEN', PRINT_ENV]);
  await box.run(['worker', 'start', '--drain', '--quiet', '--clean-env'], { env: WORKER_ENV });
  const plain = (await environmentOf(box, 'job')).join('\n');
  expect(plain).not.toMatch(/SSH_AUTH_SOCK|hush|granted|OTHER/);
  expect(plain).toMatch(/^PATH=/m);
  expect((await environmentOf(box, 'secret')).join('\n')).toContain('MY_TOKEN=granted');
});

test('the trace context of a worker does not reach its jobs, unless secret_env names it, and a job can set its own', async (box) => {
  const PRINT_TRACE = 'echo "$TRACEPARENT/$TRACESTATE/$BAGGAGE/$KEPT"';
  const own = { TRACEPARENT: '00-own' };
  await box.json(['enqueue', JSON.stringify({ id: 'plain', command: PRINT_TRACE })]);
  await box.json(['enqueue', JSON.stringify({ id: 'own', command: PRINT_TRACE, env: own })]);
  await box.json([
    'enqueue',
    JSON.stringify({ id: 'asks', command: PRINT_TRACE, secret_env: ['TRACEPARENT'] }),
  ]);
  const env = { TRACEPARENT: '00-worker', TRACESTATE: 'a=1', BAGGAGE: 'user=1', KEPT: 'yes' };
  expect((await box.run(['worker', 'start', '--drain'], { env })).code).toBe(0);
  const printed = async (id: string): Promise<string> => (await box.run(['logs', id])).stdout;
  expect(await printed('plain')).toBe('///yes\n');
  expect(await printed('own')).toBe('00-own///yes\n');
  expect(await printed('asks')).toBe('00-worker///yes\n');
});

test('S8: a directory that was replaced by a link or cannot be entered affects only its own job', async (box) => {
  const [replaced, target] = [join(box.directory, 'replaced'), join(box.directory, 'target')];
  for (const one of [replaced, target]) mkdirSync(one);
  await box.run(['enqueue', '--id', 'swapped', '--max-retries', '1', '--cwd', replaced, 'pwd -P']);
  renameSync(replaced, `${replaced}.old`);
  symlinkSync(target, replaced);
  const shut = join(box.directory, 'shut');
  mkdirSync(shut, { mode: 0o700 });
  await box.run(['enqueue', '--id', 'shut', '--max-retries', '1', '--cwd', shut, 'true']);
  chmodSync(shut, 0);
  await enqueue(box, 'fine', 'true');
  await box.run(['worker', 'start', '--drain', '--quiet']);
  expect((await box.run(['logs', 'swapped'])).stdout).toBe(`${target}\n`);
  expect(await box.json(['show', 'shut'])).toMatchObject({ state: isRoot ? 'completed' : 'dead' });
  expect(await box.json(['show', 'fine'])).toMatchObject({ state: 'completed' });
  chmodSync(shut, 0o700);
});

test('S11: 200,000 unknown fields are ignored with fewer than 30 lines of warnings', async (box) => {
  const fields = Array.from({ length: 200_000 }, (_, i) => `"k${i}":1`).join(',');
  const { code, stderr } = await box.run(['enqueue', '--file', '-'], {
    stdin: `{"command":"true",${fields}}`,
  });
  expect(code).toBe(0);
  expect(stderr.split('\n').length).toBeLessThan(30);
});

test('S2: the name of a queue is escaped in the labels of metrics', async (box) => {
  const queue = 'a"} evil 1 \\';
  await box.run(['enqueue', JSON.stringify({ queue, command: 'true' })]);
  const { stdout } = await box.run(['metrics']);
  expect(stdout).toContain('queue="a\\"} evil 1 \\\\"');
  expect(stdout).not.toMatch(/^evil/m);
});
