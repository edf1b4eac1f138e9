import { expect } from 'bun:test';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import {
  killAll,
  processesOfJob,
  sendSignal,
  untilDraining,
  untilNoProcessOf,
  untilWorkerOf,
  workersOf,
} from '../support/processes.ts';
import {
  configure,
  enqueue,
  type JobJson,
  lines,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { sandboxTest, concurrentTest as test } from '../support/sandbox-test.ts';

const RUN_ONCE = { attempts: 1, crashes: 0, exit_code: 0 };
const NOT_CHARGED = { state: 'pending', attempts: 0, crashes: 0 };

function show(box: Sandbox, id: string): Promise<JobJson> {
  return box.json<JobJson>(['show', id]);
}

/** Sends a signal to the whole foreground process group, as a terminal does on Ctrl-C or when it is closed. */
function signalGroup(group: number, signal: NodeJS.Signals): void {
  process.kill(-group, signal);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} to the whole process group lets the running job complete`, async (box) => {
    const workers = await box.startWorkers('--count', '2');
    const job = await startGatedJob(box, 'job');
    signalGroup(workers.pid, signal);
    await untilDraining(box);
    await enqueue(box, 'next', 'true');
    job.release();
    expect(await workers.exit).toBe(0);
    expect(await show(box, 'job')).toMatchObject({ state: 'completed', ...RUN_ONCE });
    expect(await show(box, 'next')).toMatchObject(NOT_CHARGED);
    expect(job.traces()).toEqual(ONE_RUN);
  });
}

test('SIGTERM to the supervisor and several signals to each worker count as one stop', async (box) => {
  const workers = await box.startWorkers('--count', '2');
  const job = await startGatedJob(box, 'job');
  const pids = (await workersOf(box)).map((worker) => worker.pid);
  sendSignal([workers.pid, ...pids], 'SIGTERM');
  await untilDraining(box);
  sendSignal(pids, 'SIGTERM');
  sendSignal(pids, 'SIGINT');
  await enqueue(box, 'next', 'true');
  job.release();
  expect(await workers.exit).toBe(0);
  expect(await show(box, 'job')).toMatchObject({ state: 'completed', ...RUN_ONCE });
  expect(await show(box, 'next')).toMatchObject(NOT_CHARGED);
  expect(job.traces()).toEqual(ONE_RUN);
});

test('a second SIGINT ends the job with all its processes and requeues it without charging an attempt', async (box) => {
  await configure(box, { 'kill-grace': '300ms' });
  const workers = await box.startWorkers();
  const stubborn = `sh -c "trap '' TERM INT; echo start >> job.log; while :; do sleep 1; done"`;
  const exitIfRetried = '[ -e first ] && { echo again >> job.log; exit 0; }; touch first; ';
  await enqueue(box, 'job', `${exitIfRetried}setsid ${stubborn} & ${stubborn}`, { max_retries: 1 });
  const log = () => lines(`${box.directory}/job.log`);
  await until(() => log().length === 2, 'both children of the command run');
  signalGroup(workers.pid, 'SIGINT');
  await untilDraining(box);
  expect(processesOfJob(box, 'job')).not.toEqual([]);
  // Signals that arrive together count as one, so the second one is repeated until it takes effect.
  await until(() => {
    signalGroup(workers.pid, 'SIGINT');
    return workers.output().includes('again');
  }, 'a SIGINT counts as the second one');
  await workers.exit;
  expect(processesOfJob(box, 'job')).toEqual([]);
  expect(await show(box, 'job')).toMatchObject(NOT_CHARGED);
  await box.startWorkers();
  expect(await untilState(box, 'job', 'completed')).toMatchObject(RUN_ONCE);
  expect(log()).toEqual(['start', 'start', 'again']);
});

test('under nohup, the supervisor and its workers ignore SIGHUP', async (box) => {
  const workers = box.start(['worker', 'start', '--count', '2'], { through: ['nohup'] });
  await until(async () => (await workersOf(box)).length === 2, 'the workers are ready');
  const workerIds = (await workersOf(box)).map((worker) => worker.id);
  const job = await startGatedJob(box, 'job');
  signalGroup(workers.pid, 'SIGHUP');
  await enqueue(box, 'next', 'true');
  await untilState(box, 'next', 'completed');
  job.release();
  await untilState(box, 'job', 'completed');
  expect(await workersOf(box)).toMatchObject(workerIds.map((id) => ({ id, status: 'idle' })));
  expect(workers.output()).not.toContain('stopping');
  // Other signals still stop the workers.
  signalGroup(workers.pid, 'SIGTERM');
  expect(await workers.exit).toBe(0);
  expect(job.traces()).toEqual(ONE_RUN);
});

test('a job that is ended by a signal from elsewhere during a stop is requeued without charging an attempt', async (box) => {
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  signalGroup(workers.pid, 'SIGTERM');
  await untilDraining(box);
  // The frame ignores the signal and the command dies of it, as when the machine shuts down.
  sendSignal(processesOfJob(box, 'job'), 'SIGTERM');
  expect(await workers.exit).toBe(0);
  expect(await show(box, 'job')).toMatchObject(NOT_CHARGED);
  await untilNoProcessOf(box, 'job');
  expect(job.traces()).toEqual(['start']);
});

test('a stop that takes longer than stop-timeout ends the running job and requeues it', async (box) => {
  await configure(box, { 'stop-timeout': '1s', 'kill-grace': '300ms' });
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  const start = performance.now();
  process.kill(workers.pid, 'SIGTERM');
  await workers.exit;
  expect(performance.now() - start).toBeGreaterThanOrEqual(950);
  expect(processesOfJob(box, 'job')).toEqual([]);
  expect(await show(box, 'job')).toMatchObject(NOT_CHARGED);
  expect(job.traces()).toEqual(['start']);
});

test('workers whose supervisor was killed finish the running job and exit', async (box) => {
  const workers = await box.startWorkers('--count', '2');
  const job = await startGatedJob(box, 'job');
  await killAll([workers.pid]);
  await untilDraining(box);
  await enqueue(box, 'next', 'true');
  job.release();
  expect(await untilState(box, 'job', 'completed')).toMatchObject(RUN_ONCE);
  await until(async () => (await workersOf(box)).length === 0, 'the workers are gone');
  expect(await show(box, 'next')).toMatchObject(NOT_CHARGED);
  expect(job.traces()).toEqual(ONE_RUN);
});

test('a crashed idle worker is replaced every time', async (box) => {
  await box.startWorkers();
  for (let round = 1; round <= 3; round++) {
    const [crashed] = await workersOf(box);
    await killAll([crashed!.pid]);
    const ready = async () => (await workersOf(box)).some((worker) => worker.id !== crashed!.id);
    await until(ready, 'the worker is replaced');
  }
  const job = await startGatedJob(box, 'job');
  await untilWorkerOf(box, 'job');
  job.release();
  expect(await untilState(box, 'job', 'completed')).toMatchObject(RUN_ONCE);
});

test('a job that failed well before the stop is charged an attempt although one of its processes is still being ended', async (box) => {
  const workers = await box.startWorkers();
  await enqueue(
    box,
    'failed',
    `sh -c '(trap "" TERM; echo left > left; sleep 60) & until test -e left; do sleep 0.01; done; exit 7'`,
    { max_retries: 1 },
  );
  await until(() => lines(`${box.directory}/left`).length > 0, 'the command has left a process behind');
  // The worker attributes a failure just before a stop to the stop, so the test waits 600 ms, less than the kill-grace.
  const start = performance.now();
  await until(() => performance.now() - start > 600, 'the command has failed');
  signalGroup(workers.pid, 'SIGTERM');
  expect(await workers.exit).toBe(0);
  expect(await show(box, 'failed')).toMatchObject({ state: 'dead', attempts: 1, exit_code: 7 });
});

// Not concurrent, because only a short time may pass before the worker is suspended.
sandboxTest(
  'a worker that was suspended during a stop counts from when it runs again, and does not charge an attempt',
  async (box) => {
    const workers = await box.startWorkers();
    const command = `trap 'exit 1' TERM; echo $$ > pid; until [ -e never ]; do sleep 0.02; done`;
    await enqueue(box, 'job', command, { max_retries: 1 });
    const pid = await until(() => lines(`${box.directory}/pid`)[0], 'the command runs');
    const [worker] = await workersOf(box);
    sendSignal([worker!.pid], 'SIGTERM');
    await until(() => workers.output().includes('stopping'), 'the worker has got the signal');
    sendSignal([worker!.pid], 'SIGSTOP');
    // Only the command gets the signal, so its frame does not record it.
    sendSignal([Number(pid)], 'SIGTERM');
    await untilNoProcessOf(box, 'job');
    const start = performance.now();
    await until(() => performance.now() - start > 700, 'a long time has passed');
    sendSignal([worker!.pid], 'SIGCONT');
    await until(async () => (await show(box, 'job')).state !== 'processing', 'the job is settled');
    expect(await show(box, 'job')).toMatchObject(NOT_CHARGED);
    sendSignal([workers.pid], 'SIGTERM');
    expect(await workers.exit).toBe(0);
  },
);
