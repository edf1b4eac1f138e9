import { expect } from 'bun:test';
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../support/database.ts';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { processesOfJob, sendSignal, untilDraining, untilWorkerOf, workersOf } from '../support/processes.ts';
import {
  configure,
  enqueue,
  type JobJson,
  lines,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

const RUN_ONCE = { attempts: 1, crashes: 0, exit_code: 0 };
const NOT_CHARGED = { state: 'pending', attempts: 0, crashes: 0 };

function show(box: Sandbox, id: string): Promise<JobJson> {
  return box.json<JobJson>(['show', id]);
}

test('worker stop from another directory lets the job complete, and a later start runs the next job', async (box) => {
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  await enqueue(box, 'next', 'echo start >> next.log');
  const stop = box.run(['worker', 'stop'], { cwd: '/' });
  await untilDraining(box);
  job.release();
  const { code, stdout, stderr } = await stop;
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'stopped 1 worker\n' });
  expect(stderr).toContain('job');
  expect(await workers.exit).toBe(0);
  expect(await show(box, 'job')).toMatchObject({ state: 'completed', ...RUN_ONCE });
  expect(await show(box, 'next')).toMatchObject(NOT_CHARGED);
  expect(job.traces()).toEqual(ONE_RUN);
  expect(lines(join(box.directory, 'next.log'))).toEqual([]);

  await box.startWorkers();
  expect(await untilState(box, 'next', 'completed')).toMatchObject(RUN_ONCE);
  expect(lines(join(box.directory, 'next.log'))).toEqual(['start']);
});

test('worker stop without workers exits with 0 and does not affect the next start', async (box) => {
  for (const flags of [[], ['--force'], ['--leave']]) {
    const stop = await box.run(['worker', 'stop', ...flags]);
    expect(stop).toMatchObject({
      code: 0,
      stdout: 'no workers were running\n',
    });
  }
  await box.startWorkers();
  await enqueue(box, 'job', 'true');
  await untilState(box, 'job', 'completed');
  expect(await workersOf(box)).toHaveLength(1);
});

test('worker stop stops the idle workers of several starts', async (box) => {
  const [one, other] = await Promise.all([
    box.startWorkers('--count', '3'),
    box.startWorkers('--count', '2'),
  ]);
  const stop = await box.run(['worker', 'stop', '--timeout', '30s']);
  expect(stop).toMatchObject({ code: 0, stdout: 'stopped 5 workers\n' });
  expect(await Promise.all([one!.exit, other!.exit])).toEqual([0, 0]);
  expect(await workersOf(box)).toEqual([]);
});

test('worker stop --force after a graceful stop ends the job and requeues it without charging an attempt', async (box) => {
  await configure(box, { 'kill-grace': '300ms' });
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  const gracefulStop = box.run(['worker', 'stop']);
  await untilDraining(box);
  expect(processesOfJob(box, 'job')).not.toEqual([]);
  expect((await box.run(['worker', 'stop', '--force'])).code).toBe(0);
  expect((await gracefulStop).code).toBe(0);
  await workers.exit;
  expect(processesOfJob(box, 'job')).toEqual([]);
  expect(await show(box, 'job')).toMatchObject(NOT_CHARGED);
  expect(job.traces()).toEqual(['start']);
  job.release();
  await box.startWorkers();
  expect(await untilState(box, 'job', 'completed')).toMatchObject(RUN_ONCE);
  expect(job.traces()).toEqual(['start', ...ONE_RUN]);
});

test('worker stop --leave stops the workers at once, and the next start adopts their running job', async (box) => {
  const workers = await box.startWorkers('--count', '2');
  const job = await startGatedJob(box, 'job', 3);
  const pidsBefore = processesOfJob(box, 'job');
  expect((await box.run(['worker', 'stop', '--leave'])).code).toBe(0);
  expect(await workers.exit).toBe(0);
  expect(await workersOf(box)).toEqual([]);
  expect(processesOfJob(box, 'job')).toContain(pidsBefore[0]!);
  expect((await show(box, 'job')).state).toBe('processing');
  await box.startWorkers();
  await untilWorkerOf(box, 'job');
  job.release();
  const outcome = { exit_code: 3, attempts: 1, crashes: 0 };
  expect(await untilState(box, 'job', 'dead')).toMatchObject(outcome);
  expect(job.traces()).toEqual(ONE_RUN);
});

test('worker stop --timeout limits how long the command waits, not the stop itself', async (box) => {
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  const stop = await box.run(['worker', 'stop', '--timeout', '300ms']);
  expect(stop.code).toBe(1);
  expect(stop.stderr).toContain('worker stop --force');
  await untilDraining(box);
  expect(await untilWorkerOf(box, 'job')).toBeTruthy();
  job.release();
  expect(await workers.exit).toBe(0);
  expect(await show(box, 'job')).toMatchObject({ state: 'completed', ...RUN_ONCE });
  expect(job.traces()).toEqual(ONE_RUN);
});

test('a .stop_workers file older than the workers is ignored, and a newer one is obeyed and removed by the last worker', async (box) => {
  await box.create();
  const stateDirectory = box.stateDirectory();
  const file = join(stateDirectory, '.stop_workers');
  mkdirSync(stateDirectory, { recursive: true });
  writeFileSync(file, '');
  const past = new Date(Date.now() - 60_000);
  utimesSync(file, past, past);
  const busy = await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  const idle = await box.startWorkers();
  await enqueue(box, 'other', 'true');
  await untilState(box, 'other', 'completed');
  expect(await workersOf(box)).toHaveLength(2);
  expect(existsSync(file)).toBe(true);

  // The time is after the start of the workers, even if the file system stores times coarsely.
  const later = new Date(Date.now() + 1000);
  utimesSync(file, later, later);
  expect(await idle.exit).toBe(0);
  await untilDraining(box);
  expect(existsSync(file)).toBe(true);
  job.release();
  expect(await busy.exit).toBe(0);
  expect(await show(box, 'job')).toMatchObject({ state: 'completed', ...RUN_ONCE });
  expect(existsSync(file)).toBe(false);

  const next = await box.startWorkers();
  await enqueue(box, 'next', 'true');
  await untilState(box, 'next', 'completed');
  expect(next.child.exitCode).toBe(null);
  await until(async () => (await workersOf(box)).length === 1, 'the worker keeps running');
});

test('only the workers of the store in $QUEUECTL_HOME obey and remove a .stop_workers file there', async (box) => {
  const otherDb = join(box.directory, 'other.db');
  const otherWorkers = box.start(['worker', 'start', '--db', otherDb]);
  await until(() => otherWorkers.output().includes(' ready '), 'the other worker is ready');
  const workers = await box.startWorkers('--count', '2');
  const file = join(box.home, '.stop_workers');
  writeFileSync(file, '');
  const later = new Date(Date.now() + 1000);
  utimesSync(file, later, later);
  expect(await workers.exit).toBe(0);
  expect(existsSync(file)).toBe(false);
  await box.run(['enqueue', '--db', otherDb, '--id', 'job', 'true']);
  expect((await box.run(['wait', '--db', otherDb, 'job'])).code).toBe(0);
  expect((await box.run(['worker', 'stop', '--db', otherDb])).stdout).toBe('stopped 1 worker\n');
});

test('worker stop ID stops only that one of two workers of a supervisor', async (box) => {
  await box.startWorkers('--count', '2');
  const ids = async (): Promise<string[]> =>
    (await box.json<{ id: string }[]>(['worker', 'list'])).map(({ id }) => id);
  const [first, second] = await ids();
  expectRefusal(await box.run(['worker', 'stop', 'nobody']), 3, /no worker 'nobody'/);
  expect(await box.json(['worker', 'stop', first!])).toMatchObject({ stopped: 1 });
  expect(await ids()).toEqual([second!]);
});

test('worker stop --timeout names a supervisor that is left without workers', async (box) => {
  const supervisor = await box.startWorkers();
  sendSignal([supervisor.pid], 'SIGSTOP');
  try {
    const stopping = box.start(['worker', 'stop']);
    await until(async () => (await workersOf(box)).length === 0, 'the worker has stopped');
    expectRefusal(
      await box.run(['worker', 'stop', '--timeout', '1ms']),
      1,
      new RegExp(`no worker is left, but supervisor ${supervisor.pid} is still running$`),
    );
    sendSignal([supervisor.pid], 'SIGCONT');
    expect(await stopping.closed).toBe(0);
  } finally {
    sendSignal([supervisor.pid], 'SIGCONT');
  }
});

test('worker stop names a suspended worker and how to resume it, while it waits and after its timeout', async (box) => {
  const supervisor = await box.startWorkers('--count', '2');
  const { pid } = (await workersOf(box))[0]!;
  sendSignal([pid], 'SIGSTOP');
  const says = `process ${pid} is suspended and cannot stop; to resume: kill -CONT ${pid}`;
  try {
    const stopping = box.start(['worker', 'stop', '--force']);
    await until(() => stopping.output().includes(says), 'the command names the suspended worker');
    expect((await box.run(['worker', 'stop', '--timeout', '100ms'])).stderr).toContain(says);
    sendSignal([pid], 'SIGCONT');
    expect(await stopping.closed).toBe(0);
    expect(await supervisor.exit).toBe(0);
  } finally {
    sendSignal([pid], 'SIGCONT');
  }
});

test('worker stop names a suspended worker that is no longer registered', async (box) => {
  await box.startWorkers();
  const { pid } = (await workersOf(box))[0]!;
  sendSignal([pid], 'SIGSTOP');
  try {
    const store = openDatabase(join(box.home, 'queue.db'));
    store.exec('DELETE FROM worker');
    store.close();
    const stop = await box.run(['worker', 'stop', '--timeout', '100ms']);
    expect(stop.code).toBe(1);
    expect(stop.stderr).toContain('no worker is left');
    expect(stop.stderr).toContain(`kill -CONT ${pid}\n`);
  } finally {
    sendSignal([pid], 'SIGCONT');
  }
});
