import { expect } from 'bun:test';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { killAll, untilDraining, untilWorkerOf, workersOf } from '../support/processes.ts';
import {
  configure,
  type JobJson,
  type Running,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** On PostgreSQL, a guard stops the job before the lease ends, unless a worker adopts it. */
const isOnServer = process.env.QUEUECTL_TEST_STORE === 'postgres';
const SHORT_LEASE = { 'heartbeat-interval': '200ms', ...(!isOnServer && { lease: '1s' }) };
const RUN_ONCE = { state: 'completed', attempts: 1, crashes: 0, exit_code: 0 };

/** Starts a gated job and kills the supervisor and its workers, so that the job runs without a worker. */
async function startOrphanedJob(box: Sandbox) {
  await configure(box, SHORT_LEASE);
  const supervisor = await box.startWorkers('--count', '3');
  const job = await startGatedJob(box, 'job');
  await killAll([supervisor.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
  return job;
}

/** Ways to stop workers. None of them waits until the workers have ended. */
const STOPS: Record<string, (box: Sandbox, supervisor: Running) => Promise<unknown>> = {
  'SIGTERM to the supervisor': async (_, { pid }) => process.kill(pid, 'SIGTERM'),
  'SIGINT to the group': async (_, { pid }) => process.kill(-pid, 'SIGINT'),
  'worker stop': async (box) => void box.run(['worker', 'stop']),
  'worker stop with every id': async (box) =>
    void box.run(['worker', 'stop', ...(await workersOf(box)).map((worker) => worker.id)]),
  'the death of the supervisor': async (_, { pid }) => process.kill(pid, 'SIGKILL'),
};

for (const [name, stop] of Object.entries(STOPS)) {
  test(`after ${name} a worker waits for its adopted job and settles it with the exit code of the command`, async (box) => {
    const job = await startOrphanedJob(box);
    const secondSupervisor = await box.startWorkers('--count', '3');
    await untilWorkerOf(box, 'job');
    await stop(box, secondSupervisor);
    await untilDraining(box);
    await until(async () => (await workersOf(box)).length === 1, 'one worker waits for the job');
    job.release();
    expect(await untilState(box, 'job', 'completed')).toMatchObject(RUN_ONCE);
    expect(job.traces()).toEqual(ONE_RUN);
    await secondSupervisor.exit;
    await until(async () => (await workersOf(box)).length === 0, 'no worker is left');
  });
}

test('workers that are stopped right after their start still adopt an orphaned job', async (box) => {
  const job = await startOrphanedJob(box);
  const secondSupervisor = await box.startWorkers('--count', '2');
  process.kill(secondSupervisor.pid, 'SIGTERM');
  await untilWorkerOf(box, 'job');
  job.release();
  expect(await secondSupervisor.exit).toBe(0);
  expect(await box.json<JobJson>(['show', 'job'])).toMatchObject(RUN_ONCE);
  expect(job.traces()).toEqual(ONE_RUN);
});

test('when workers are stopped, a worker of another queue takes over their adopted job', async (box) => {
  const job = await startOrphanedJob(box);
  const secondSupervisor = await box.startWorkers('--count', '2');
  await untilWorkerOf(box, 'job');
  const thirdSupervisor = await box.startWorkers('--queue', 'other');
  process.kill(secondSupervisor.pid, 'SIGTERM');
  expect(await secondSupervisor.exit).toBe(0);
  expect(job.traces()).toEqual(['start']);
  await untilWorkerOf(box, 'job');
  process.kill(thirdSupervisor.pid, 'SIGTERM');
  await untilDraining(box);
  job.release();
  expect(await thirdSupervisor.exit).toBe(0);
  expect(await box.json<JobJson>(['show', 'job'])).toMatchObject(RUN_ONCE);
  expect(job.traces()).toEqual(ONE_RUN);
});

test('a worker that dies just before the stop is replaced by one that waits for its job and claims no other', async (box) => {
  await configure(box, SHORT_LEASE);
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  await box.json(['enqueue', '--id', 'next', 'true']);
  const { pid } = await untilWorkerOf(box, 'job');
  // The supervisor is frozen, so it notices the death of the worker and the SIGTERM at the same moment.
  process.kill(workers.pid, 'SIGSTOP');
  process.kill(pid, 'SIGKILL');
  process.kill(workers.pid, 'SIGTERM');
  process.kill(workers.pid, 'SIGCONT');
  await until(async () => (await untilWorkerOf(box, 'job')).pid !== pid, 'another worker has the job');
  job.release();
  expect(await workers.exit).toBe(0);
  expect(await box.json<JobJson>(['show', 'job'])).toMatchObject(RUN_ONCE);
  expect(await box.json<JobJson>(['show', 'next'])).toMatchObject({ state: 'pending', attempts: 0 });
  expect(job.traces()).toEqual(ONE_RUN);
});
