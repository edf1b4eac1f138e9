import { expect } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gatedJob, ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { isAlive, killAll, sendSignal, untilWorkerOf, workersOf } from '../support/processes.ts';
import { configure, enqueue, type JobJson, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** On PostgreSQL, a guard stops the jobs before the lease ends, so a shorter one would not suffice on a busy machine. */
const LEASE_SECONDS = process.env.QUEUECTL_TEST_STORE === 'postgres' ? 8 : 1;
const SHORT_LEASE = {
  ...{ 'heartbeat-interval': '200ms', 'kill-grace': '200ms' },
  lease: `${LEASE_SECONDS}s`,
};

/** Freezes a worker with SIGSTOP and waits until the other workers have removed its registration. */
async function freeze(box: Sandbox, pid: number): Promise<void> {
  sendSignal([pid], 'SIGSTOP');
  // A worker that is frozen during a write keeps a file locked, so the loop lets it run briefly. A server rolls its write back.
  while (!canWrite(box)) {
    sendSignal([pid], 'SIGCONT');
    sendSignal([pid], 'SIGSTOP');
  }
  const isGone = async () => !(await workersOf(box)).some((worker) => worker.pid === pid);
  await until(isGone, 'the frozen worker is removed');
}

function canWrite(box: Sandbox): boolean {
  const path = join(box.home, 'queue.db');
  if (!existsSync(path)) return true;
  const db = new DatabaseSync(path, { timeout: 500 });
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return true;
  } catch {
    return false;
  } finally {
    db.close();
  }
}

/** Continues a frozen worker. Waits until it has ended and `count` workers are registered, including its replacement. */
async function thawUntilReplaced(box: Sandbox, pid: number, count: number): Promise<void> {
  sendSignal([pid], 'SIGCONT');
  await until(() => !isAlive(pid), 'the thawed worker has ended');
  await until(async () => (await workersOf(box)).length === count, `${count} workers again`);
}

test('a job that takes longer than the lease runs once', async (box) => {
  await configure(box, SHORT_LEASE);
  await box.startWorkers('--count', '2');
  const command = `echo start >> job.log; sleep ${3 + LEASE_SECONDS}; echo end >> job.log`;
  await enqueue(box, 'job', command, { max_retries: 1 });
  const job = await untilState(box, 'job', 'completed');
  expect(job).toMatchObject({ attempts: 1, crashes: 0 });
  expect(job.duration_ms).toBeGreaterThanOrEqual((3 + LEASE_SECONDS) * 1000);
  expect(gatedJob(box, 'job').traces()).toEqual(ONE_RUN);
});

test('the job of a frozen worker is adopted and settled, and the worker changes nothing when it continues', async (box) => {
  await configure(box, SHORT_LEASE);
  await box.startWorkers('--count', '2');
  const job = await startGatedJob(box, 'job', 3);
  const frozen = await untilWorkerOf(box, 'job');
  await freeze(box, frozen.pid);
  expect((await untilWorkerOf(box, 'job')).pid).not.toBe(frozen.pid);
  job.release();
  const settled = await untilState(box, 'job', 'dead');
  expect(settled).toMatchObject({ exit_code: 3, attempts: 1, crashes: 0 });
  await enqueue(box, 'meanwhile', 'true');
  await untilState(box, 'meanwhile', 'completed');
  await thawUntilReplaced(box, frozen.pid, 2);
  await enqueue(box, 'next', 'true');
  await untilState(box, 'next', 'completed');
  expect(await box.json<JobJson>(['show', 'job'])).toEqual(settled);
  expect(job.traces()).toEqual(ONE_RUN);
});

test('a frozen worker leaves its job alone if it continues after another worker has adopted the job', async (box) => {
  await configure(box, SHORT_LEASE);
  await box.startWorkers('--count', '2');
  const job = await startGatedJob(box, 'job');
  const frozen = await untilWorkerOf(box, 'job');
  await freeze(box, frozen.pid);
  const adopter = await untilWorkerOf(box, 'job');
  await thawUntilReplaced(box, frozen.pid, 2);
  expect((await untilWorkerOf(box, 'job')).id).toBe(adopter.id);
  job.release();
  expect(await untilState(box, 'job', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
  expect(job.traces()).toEqual(ONE_RUN);
});

test('no job is lost or run twice when an idle worker continues after it was considered dead', async (box) => {
  // The worker polls far more often than it sends heartbeats, so it polls first when it continues.
  await configure(box, { ...SHORT_LEASE, 'poll-interval': '10ms' });
  await box.startWorkers('--count', '2');
  const [frozen] = await workersOf(box);
  await freeze(box, frozen!.pid);
  const blocker = await startGatedJob(box, 'blocker');
  await enqueue(box, 'job', 'echo start >> job.log; sleep 2; echo end >> job.log', { max_retries: 1 });
  await thawUntilReplaced(box, frozen!.pid, 2);
  expect(await untilState(box, 'job', 'completed', 30_000)).toMatchObject({ attempts: 1, crashes: 0 });
  expect(gatedJob(box, 'job').traces()).toEqual(ONE_RUN);
  blocker.release();
  await untilState(box, 'blocker', 'completed');
});

test('a killed worker that is not reaped yet is considered dead before its lease ends', async (box) => {
  await configure(box, { lease: '1h' });
  const supervisor = await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  const killed = await untilWorkerOf(box, 'job');
  // The frozen supervisor cannot reap the killed worker, which stays a zombie.
  sendSignal([supervisor.pid], 'SIGSTOP');
  try {
    await killAll([killed.pid]);
    expect((await workersOf(box)).map((worker) => worker.pid)).toEqual([]);
    await box.startWorkers();
    expect((await untilWorkerOf(box, 'job')).pid).not.toBe(killed.pid);
    job.release();
    expect(await untilState(box, 'job', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
    expect(job.traces()).toEqual(ONE_RUN);
  } finally {
    sendSignal([supervisor.pid], 'SIGCONT');
  }
});
