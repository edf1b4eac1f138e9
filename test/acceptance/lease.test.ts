import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gatedJob, ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { isAlive, killAll, send, untilWorkerOf, workersOf } from '../support/processes.ts';
import {
  configure,
  enqueue,
  inSandbox,
  type JobJson,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';

const QUICK = { 'heartbeat-interval': '200ms', lease: '1s' };

/** The worker's process, stopped, until the other workers have written it off. */
async function freeze(box: Sandbox, pid: number): Promise<void> {
  send([pid], 'SIGSTOP');
  // One that was hit while it wrote would hold the database for everybody: try another moment.
  while (!canWrite(box)) {
    send([pid], 'SIGCONT');
    send([pid], 'SIGSTOP');
  }
  const gone = async () => !(await workersOf(box)).some((worker) => worker.pid === pid);
  await until(gone, 'the frozen worker is written off');
}

function canWrite(box: Sandbox): boolean {
  const db = new DatabaseSync(join(box.home, 'queue.db'), { timeout: 500 });
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return true;
  } catch {
    return false;
  } finally {
    db.close();
  }
}

/** A worker that finds itself written off ends, and its supervisor starts another. */
async function wake(box: Sandbox, pid: number, count: number): Promise<void> {
  send([pid], 'SIGCONT');
  await until(() => !isAlive(pid), 'the woken worker has ended');
  await until(async () => (await workersOf(box)).length === count, `${count} workers again`);
}

test.concurrent(
  'a job longer than the lease runs once',
  inSandbox(async (box) => {
    await configure(box, QUICK);
    await box.startWorkers('--count', '2');
    await enqueue(box, 'job', 'echo start >> job.log; sleep 4; echo end >> job.log', { max_retries: 1 });
    const job = await untilState(box, 'job', 'completed');
    expect(job).toMatchObject({ attempts: 1, crashes: 0 });
    expect(job.duration_ms).toBeGreaterThanOrEqual(4000);
    expect(gatedJob(box, 'job').traces()).toEqual(ONE_RUN);
  }),
);

test.concurrent(
  'a frozen worker: its job is adopted and settled; the woken worker changes nothing',
  inSandbox(async (box) => {
    await configure(box, QUICK);
    await box.startWorkers('--count', '2');
    const job = await startGatedJob(box, 'job', 3);
    const frozen = await untilWorkerOf(box, 'job');
    await freeze(box, frozen.pid);
    expect((await untilWorkerOf(box, 'job')).pid).not.toBe(frozen.pid);
    job.letGo();
    const settled = await untilState(box, 'job', 'dead');
    expect(settled).toMatchObject({ exit_code: 3, attempts: 1, crashes: 0 });
    await enqueue(box, 'meanwhile', 'true');
    await untilState(box, 'meanwhile', 'completed');
    await wake(box, frozen.pid, 2);
    await enqueue(box, 'next', 'true');
    await untilState(box, 'next', 'completed');
    expect(await box.json<JobJson>(['show', 'job'])).toEqual(settled);
    expect(job.traces()).toEqual(ONE_RUN);
  }),
);

test.concurrent(
  'a worker that wakes while its adopted job runs leaves it alone',
  inSandbox(async (box) => {
    await configure(box, QUICK);
    await box.startWorkers('--count', '2');
    const job = await startGatedJob(box, 'job');
    const frozen = await untilWorkerOf(box, 'job');
    await freeze(box, frozen.pid);
    const adopter = await untilWorkerOf(box, 'job');
    await wake(box, frozen.pid, 2);
    expect((await untilWorkerOf(box, 'job')).id).toBe(adopter.id);
    job.letGo();
    expect(await untilState(box, 'job', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
    expect(job.traces()).toEqual(ONE_RUN);
  }),
);

test.concurrent(
  'a worker written off while it was idle loses no job when it wakes',
  inSandbox(async (box) => {
    // It looks for jobs far more often than it beats, so it does that first when it wakes.
    await configure(box, { ...QUICK, 'poll-interval': '10ms' });
    await box.startWorkers('--count', '2');
    const [frozen] = await workersOf(box);
    await freeze(box, frozen!.pid);
    const blocker = await startGatedJob(box, 'blocker');
    await enqueue(box, 'job', 'echo start >> job.log; sleep 2; echo end >> job.log', { max_retries: 1 });
    await wake(box, frozen!.pid, 2);
    expect(await untilState(box, 'job', 'completed', 30_000)).toMatchObject({ attempts: 1, crashes: 0 });
    expect(gatedJob(box, 'job').traces()).toEqual(ONE_RUN);
    blocker.letGo();
    await untilState(box, 'blocker', 'completed');
  }),
);

test.concurrent(
  'a killed worker that nobody has reaped yet counts as gone, whatever the lease',
  inSandbox(async (box) => {
    await configure(box, { lease: '1h' });
    const first = await box.startWorkers();
    const job = await startGatedJob(box, 'job');
    const killed = await untilWorkerOf(box, 'job');
    // Its supervisor cannot reap it: it stays a zombie.
    send([first.pid], 'SIGSTOP');
    try {
      await killAll([killed.pid]);
      expect((await workersOf(box)).map((worker) => worker.pid)).toEqual([]);
      await box.startWorkers();
      expect((await untilWorkerOf(box, 'job')).pid).not.toBe(killed.pid);
      job.letGo();
      expect(await untilState(box, 'job', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
      expect(job.traces()).toEqual(ONE_RUN);
    } finally {
      send([first.pid], 'SIGCONT');
    }
  }),
);
