import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gatedCommand, gatedJob, ONE_RUN } from '../support/gated-job.ts';
import { isAlive } from '../support/processes.ts';
import {
  configure,
  EXECUTABLE,
  enqueue,
  lines,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** Returns a shell command that runs queuectl on the inner store. */
const innerCommand = (box: Sandbox, args: string): string => `'${EXECUTABLE}' --db '${innerDb(box)}' ${args}`;
const innerDb = (box: Sandbox): string => join(box.directory, 'inner.db');

/** Enqueues a gated job in the inner store, which has no workers yet. */
async function enqueueInnerJob(box: Sandbox): Promise<ReturnType<typeof gatedJob>> {
  await box.json([
    '--db',
    innerDb(box),
    'enqueue',
    JSON.stringify({ id: 'in', command: gatedCommand('in') }),
  ]);
  return gatedJob(box, 'in');
}

function innerJob(box: Sandbox): Promise<{ state: string }> {
  return box.json(['--db', innerDb(box), 'show', 'in']);
}

async function liveInnerWorkerPids(box: Sandbox): Promise<number[]> {
  const workers = await box.json<{ pid: number }[]>(['--db', innerDb(box), 'worker', 'list']);
  return workers.map((one) => one.pid).filter(isAlive);
}

test('cancelling a job ends the workers that it runs in the foreground, but not their jobs', async (box) => {
  await configure(box, { 'kill-grace': '300ms' });
  await box.startWorkers();
  const job = await enqueueInnerJob(box);
  await enqueue(box, 'outer', innerCommand(box, 'worker start'));
  await until(() => job.traces().length > 0, 'the inner job runs');
  const workers = await liveInnerWorkerPids(box);
  expect(workers).toHaveLength(1);
  await box.run(['cancel', 'outer']);
  await untilState(box, 'outer', 'cancelled');
  expect(workers.filter(isAlive)).toEqual([]);
  expect(await innerJob(box)).toMatchObject({ state: 'processing' });
  job.release();
  await box.run(['--db', innerDb(box), 'worker', 'start', '--drain']);
  expect(await innerJob(box)).toMatchObject({ state: 'completed' });
  expect(job.traces()).toEqual(ONE_RUN);
});

test('workers that a job starts with --detach continue when the job is cancelled', async (box) => {
  await configure(box, { 'kill-grace': '300ms' });
  await box.startWorkers();
  const job = await enqueueInnerJob(box);
  await enqueue(box, 'outer', `${innerCommand(box, 'worker start --detach')}; echo ready >ready; sleep 1000`);
  await until(() => lines(join(box.directory, 'ready')).length > 0, 'the workers are ready');
  await until(() => job.traces().length > 0, 'the inner job runs');
  const workers = await liveInnerWorkerPids(box);
  await box.run(['cancel', 'outer']);
  await untilState(box, 'outer', 'cancelled');
  expect(workers.filter(isAlive)).toEqual(workers);
  job.release();
  await until(async () => (await innerJob(box)).state === 'completed', 'the inner job is done');
  await box.run(['--db', innerDb(box), 'worker', 'stop']);
  expect(job.traces()).toEqual(ONE_RUN);
});

test('cancelling a job ends a script that it runs in another session with the Bun inside queuectl', async (box) => {
  await configure(box, { 'kill-grace': '300ms' });
  await box.startWorkers();
  const script = join(box.directory, 'script.js');
  writeFileSync(
    script,
    `process.on('SIGTERM', () => {}); require('fs').writeFileSync('pid', process.pid + '\\n'); setInterval(() => {}, 1000);`,
  );
  await enqueue(box, 'outer', `BUN_BE_BUN=1 setsid '${EXECUTABLE}' run ${script} & sleep 1000`);
  const [pid] = await until(() => {
    const printed = lines(join(box.directory, 'pid'));
    return printed.length > 0 && printed;
  }, 'the script runs');
  await box.run(['cancel', 'outer']);
  await untilState(box, 'outer', 'cancelled');
  expect(isAlive(Number(pid))).toBe(false);
});

test('a job that cancels itself after its worker has left it running is cancelled', async (box) => {
  await configure(box, { 'kill-grace': '300ms' });
  const workers = await box.startWorkers();
  const cancel = `setsid '${EXECUTABLE}' cancel outer >cancelled 2>&1`;
  await enqueue(
    box,
    'outer',
    `echo ready >ready; until [ -e go ]; do sleep 0.05; done; ${cancel} & sleep 1000`,
  );
  await until(() => lines(join(box.directory, 'ready')).length > 0, 'the job runs');
  const { pid } = (await box.json<{ pid: number }[]>(['worker', 'list']))[0]!;
  await box.run(['worker', 'stop', '--leave']);
  await workers.exit;
  expect(isAlive(pid)).toBe(false);
  writeFileSync(join(box.directory, 'go'), '');
  await untilState(box, 'outer', 'cancelled');
});
