import { expect } from 'bun:test';
import { join } from 'node:path';
import { gatedCommand, gatedJob, ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import {
  isAlive,
  killAll,
  processesOfJob,
  untilNoProcessOf,
  untilWorkerOf,
  workersOf,
} from '../support/processes.ts';
import {
  configure,
  enqueue,
  type JobJson,
  lines,
  type Running,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** Kills the supervisor and then its workers, which it would otherwise replace. Their jobs keep running. */
async function killWorkers(box: Sandbox, supervisor: Running): Promise<void> {
  const workers = await workersOf(box);
  await killAll([supervisor.pid, ...workers.map((worker) => worker.pid)]);
}

function untilSettled(box: Sandbox, id: string, exitCode: number): Promise<JobJson> {
  return untilState(box, id, exitCode === 0 ? 'completed' : 'dead');
}

for (const exitCode of [0, 3]) {
  const outcome = { exit_code: exitCode, attempts: 1, crashes: 0 };

  test(`a job whose worker is killed continues and ends with exit code ${exitCode}`, async (box) => {
    await box.startWorkers();
    const job = await startGatedJob(box, 'job', exitCode);
    const worker = await untilWorkerOf(box, 'job');
    await killAll([worker.pid]);
    const newWorker = await untilWorkerOf(box, 'job');
    expect(newWorker.pid).not.toBe(worker.pid);
    job.release();
    expect(await untilSettled(box, 'job', exitCode)).toMatchObject(outcome);
    expect(job.traces()).toEqual(ONE_RUN);
  });

  test(`after the supervisor and its workers are killed, new workers adopt the job, which ends with exit code ${exitCode}`, async (box) => {
    const supervisor = await box.startWorkers('--count', '2');
    const job = await startGatedJob(box, 'job', exitCode);
    await killWorkers(box, supervisor);
    await box.startWorkers('--count', '2');
    await untilWorkerOf(box, 'job');
    job.release();
    expect(await untilSettled(box, 'job', exitCode)).toMatchObject(outcome);
    expect(job.traces()).toEqual(ONE_RUN);
  });

  test(`a job that ends with exit code ${exitCode} while no worker runs is settled by the next worker`, async (box) => {
    const supervisor = await box.startWorkers('--count', '2');
    const job = await startGatedJob(box, 'job', exitCode);
    await killWorkers(box, supervisor);
    job.release();
    await untilNoProcessOf(box, 'job');
    expect((await box.json<JobJson>(['show', 'job'])).state).toBe('processing');
    await box.startWorkers('--count', '2');
    expect(await untilSettled(box, 'job', exitCode)).toMatchObject(outcome);
    expect(job.traces()).toEqual(ONE_RUN);
  });
}

test('a timeout ends all processes of an adopted job', async (box) => {
  await configure(box, { 'kill-grace': '300ms' });
  const supervisor = await box.startWorkers();
  const stubborn = `sh -c "trap '' TERM; echo start >> job.log; while :; do sleep 1; done"`;
  await enqueue(box, 'job', `setsid ${stubborn} & ${stubborn}`, { max_retries: 1, timeout: 3 });
  await until(() => gatedJob(box, 'job').traces().length === 2, 'both children of the job run');
  await killWorkers(box, supervisor);
  await box.startWorkers();
  const job = await untilState(box, 'job', 'dead');
  expect(processesOfJob(box, 'job')).toEqual([]);
  expect(job).toMatchObject({ exit_code: 124, attempts: 1, crashes: 0 });
  expect(job.duration_ms).toBeGreaterThanOrEqual(2900);
  expect(gatedJob(box, 'job').traces()).toEqual(['start', 'start']);
});

test('a retry that waits when all workers are killed is started by the next worker, and not before it is due', async (box) => {
  const supervisor = await box.startWorkers();
  await enqueue(box, 'job', 'date +%s%3N >> job.log; exit 1', { max_retries: 2, backoff_base: 8 });
  const { next_run_at } = await untilState(box, 'job', 'failed');
  await killWorkers(box, supervisor);
  await box.startWorkers();
  expect(await untilState(box, 'job', 'dead')).toMatchObject({ attempts: 2, crashes: 0 });
  const runs = gatedJob(box, 'job').traces().map(Number);
  expect(runs).toHaveLength(2);
  expect(runs[1]).toBeGreaterThanOrEqual(Date.parse(next_run_at!));
});

test('a job whose command kills its worker and itself is dead at the crash limit', async (box) => {
  await configure(box, { 'crash-limit': '3' });
  await box.startWorkers();
  // $PPID is the frame, whose parent is the worker. 0 is the job's own process group.
  await enqueue(box, 'job', 'echo start >> job.log; kill -9 $(ps -o ppid= -p $PPID); kill -9 0');
  const job = await untilState(box, 'job', 'dead');
  expect(job).toMatchObject({ attempts: 0, crashes: 3 });
  expect(job.last_error).toContain('lost');
  expect(gatedJob(box, 'job').traces()).toEqual(['start', 'start', 'start']);
  // The killed workers have been replaced.
  await enqueue(box, 'next', 'true');
  await untilState(box, 'next', 'completed');
});

test('a command that kills itself fails its attempt and leaves its worker running', async (box) => {
  await box.startWorkers();
  const [worker] = await workersOf(box);
  await enqueue(box, 'job', 'echo start >> job.log; kill -9 $$', { max_retries: 1 });
  const outcome = { exit_code: 137, signal: 'SIGKILL', attempts: 1, crashes: 0 };
  expect(await untilState(box, 'job', 'dead')).toMatchObject(outcome);
  expect(gatedJob(box, 'job').traces()).toEqual(['start']);
  expect((await workersOf(box)).map(({ pid }) => pid)).toEqual([worker!.pid]);
});

const WRITE_FRAME_PID = 'echo $PPID > frame; ';

async function framePid(box: Sandbox): Promise<number> {
  const [pid] = lines(join(box.directory, 'frame'));
  expect(processesOfJob(box, 'job')).toContain(Number(pid));
  return Number(pid);
}

test('when only the frame is killed, the other processes of the job are ended before the job is settled', async (box) => {
  await configure(box, { 'kill-grace': '300ms' });
  await box.startWorkers();
  const job = gatedJob(box, 'job');
  const command = `trap '' TERM; ${WRITE_FRAME_PID}${gatedCommand('job')}`;
  await enqueue(box, 'job', command, { max_retries: 1 });
  await until(() => job.traces().length === 1, 'the job runs');
  await killAll([await framePid(box)]);
  const settled = await untilState(box, 'job', 'dead');
  expect(processesOfJob(box, 'job')).toEqual([]);
  expect(settled).toMatchObject({ exit_code: 137, attempts: 1 });
  job.release();
  expect(job.traces()).toEqual(['start']);
});

test('when the frame is killed with all workers, the job is retried only after its other processes are gone', async (box) => {
  await configure(box, { 'kill-grace': '300ms' });
  const supervisor = await box.startWorkers();
  // A killed process that has not been reaped yet is a zombie and does not run.
  const reportIfFirstRuns =
    'case $(ps -o stat= -p $(cat first)) in ""|Z*) ;; *) echo both >> job.log ;; esac';
  const onSecondRun = `[ -e first ] && { ${reportIfFirstRuns}; exit 0; }; `;
  const command = `${onSecondRun}trap '' TERM; echo $$ > first; ${WRITE_FRAME_PID}${gatedCommand('job')}`;
  await enqueue(box, 'job', `echo run >> job.log; ${command}`, { max_retries: 1 });
  const job = gatedJob(box, 'job');
  await until(() => job.traces().length === 2, 'the job runs');
  await killWorkers(box, supervisor);
  await killAll([await framePid(box)]);
  expect(isAlive(Number(lines(join(box.directory, 'first'))[0]))).toBe(true);
  await box.startWorkers();
  expect(await untilState(box, 'job', 'completed')).toMatchObject({ attempts: 1, crashes: 1 });
  expect(job.traces()).toEqual(['run', 'start', 'run']);
});

test('an at-most-once job is dead when its attempt is lost', async (box) => {
  await box.startWorkers();
  const command = 'echo ran >>traces; kill -9 $(ps -o ppid= -p $PPID); kill -9 0';
  await box.run(['enqueue', '--id', 'once', '--at-most-once', '--command', command]);
  expect(await untilState(box, 'once', 'dead')).toMatchObject({
    attempts: 0,
    crashes: 1,
    at_most_once: true,
  });
  expect(lines(join(box.directory, 'traces'))).toEqual(['ran']);
});
