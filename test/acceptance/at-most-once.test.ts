import { expect, test as plainTest } from 'bun:test';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { canFakeBoots, newBoot } from '../support/other-boot.ts';
import {
  frameOfJob,
  killAll,
  sendSignal,
  untilDraining,
  untilNoProcessOf,
  workersOf,
} from '../support/processes.ts';
import {
  configure,
  enqueue,
  inSandbox,
  type JobJson,
  lines,
  type Running,
  type Sandbox,
  until,
} from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

interface JobDetails extends JobJson {
  max_retries: number;
  at_most_once: boolean;
}

const LOG_START = 'echo start >>starts';
const WAIT_FOR_GO = `${LOG_START}; until [ -e go ]; do sleep 0.05; done`;
const AT_MOST_ONCE = { at_most_once: true };

const startCount = (box: Sandbox): number => lines(join(box.directory, 'starts')).length;
const show = (box: Sandbox, id = 'job'): Promise<JobDetails> => box.json<JobDetails>(['show', id]);

/** Runs every job that may be started, including retries. */
async function drain(box: Sandbox, through: string[] = []): Promise<void> {
  const { exit } = box.start(['worker', 'start', '--drain'], { through });
  expect(await exit).toBe(0);
}

/** Kills the workers and the job `job`. */
async function killWorkersAndJob(box: Sandbox, workers: Running): Promise<void> {
  const pids = (await workersOf(box)).map((worker) => worker.pid);
  // The supervisor is killed first, because it would replace its workers.
  await killAll([workers.pid, ...pids]);
  process.kill(-frameOfJob(box, 'job'), 'SIGKILL');
  await untilNoProcessOf(box, 'job');
}

/** The ways in which queuectl, a signal or a crash ends a running attempt. */
const INTERRUPTIONS: [
  name: string,
  settings: Record<string, string>,
  interrupt: (box: Sandbox, workers: Running) => Promise<unknown>,
  reason: RegExp,
][] = [
  ['worker stop --force', {}, (box) => box.run(['worker', 'stop', '--force']), /^stopped with its worker/],
  [
    'a second SIGINT',
    {},
    async (box, workers) => {
      process.kill(workers.pid, 'SIGINT');
      await untilDraining(box);
      // The kernel merges signals that arrive together, so the second one is repeated.
      await until(() => {
        sendSignal([workers.pid], 'SIGINT');
        return workers.child.exitCode !== null;
      }, 'the second SIGINT ends the job');
    },
    /^stopped with its worker/,
  ],
  [
    'a stop that exceeds stop-timeout',
    { 'stop-timeout': '100ms' },
    (box) => box.run(['worker', 'stop']),
    /^stopped with its worker/,
  ],
  [
    'SIGTERM to the job while its worker stops',
    {},
    async (box, workers) => {
      process.kill(workers.pid, 'SIGTERM');
      await untilDraining(box);
      process.kill(-frameOfJob(box, 'job'), 'SIGTERM');
      await workers.exit;
    },
    /^stopped with its worker/,
  ],
  ['SIGKILL to its worker and its own processes', {}, killWorkersAndJob, /^lost/],
];

for (const [name, settings, interrupt, reason] of INTERRUPTIONS)
  test(`an at-most-once job is dead after ${name}, and no later worker starts it`, async (box) => {
    await configure(box, { 'kill-grace': '300ms', ...settings });
    const workers = await box.startWorkers();
    await enqueue(box, 'job', WAIT_FOR_GO, AT_MOST_ONCE);
    await until(() => startCount(box) === 1, 'the job runs');
    await interrupt(box, workers);
    await drain(box);
    const job = await show(box);
    expect(job).toMatchObject({ state: 'dead', attempts: 0, max_retries: 1 });
    expect(job.last_error).toMatch(reason);
    expect(startCount(box)).toBe(1);
  });

test('an at-most-once job that fails, times out or cannot start is dead with that reason after one attempt', async (box) => {
  await configure(box, { 'max-retries': '5', 'kill-grace': '300ms' });
  const gone = join(box.directory, 'gone');
  mkdirSync(gone);
  await enqueue(box, 'exit', `${LOG_START}; echo broken; exit 3`, AT_MOST_ONCE);
  await enqueue(box, 'time', WAIT_FOR_GO, { ...AT_MOST_ONCE, timeout: '200ms' });
  await enqueue(box, 'signal', `${LOG_START}; kill -9 $$`, AT_MOST_ONCE);
  await enqueue(box, 'directory', LOG_START, { ...AT_MOST_ONCE, cwd: gone });
  rmSync(gone, { recursive: true });
  await drain(box);
  mkdirSync(gone);
  await drain(box);
  const reasons = {
    exit: /^exit code 3: broken/,
    time: /^timed out/,
    signal: /SIGKILL/,
    directory: /gone/,
  };
  for (const [id, reason] of Object.entries(reasons)) {
    const job = await show(box, id);
    expect(job).toMatchObject({ state: 'dead', attempts: 1, crashes: 0, max_retries: 1 });
    expect(job.last_error).toMatch(reason);
  }
  expect(startCount(box)).toBe(3);
  expect(lines(join(gone, 'starts'))).toEqual([]);
});

plainTest.concurrent.skipIf(!canFakeBoots())(
  'an at-most-once job is dead after a restart of the machine',
  inSandbox(async (box) => {
    // On PostgreSQL, the next boot waits for the end of this lease.
    await configure(box, { 'heartbeat-interval': '300ms', 'kill-grace': '500ms', lease: '4s' });
    const workers = await box.startWorkers();
    await enqueue(box, 'job', WAIT_FOR_GO, AT_MOST_ONCE);
    await until(() => startCount(box) === 1, 'the job runs');
    await killWorkersAndJob(box, workers);
    await drain(box, newBoot(box.directory));
    expect(await show(box)).toMatchObject({ state: 'dead', attempts: 0, crashes: 1 });
    expect(startCount(box)).toBe(1);
  }),
);

test('a running at-most-once job can be cancelled', async (box) => {
  await configure(box, { 'kill-grace': '300ms' });
  await box.startWorkers();
  await enqueue(box, 'job', WAIT_FOR_GO, AT_MOST_ONCE);
  await until(() => startCount(box) === 1, 'the job runs');
  expect((await box.run(['cancel', 'job'])).code).toBe(0);
  expect(await show(box)).toMatchObject({ state: 'cancelled' });
  expect(startCount(box)).toBe(1);
});

test('a retry by id starts an at-most-once job again with a warning, but bulk retries skip and count it', async (box) => {
  await enqueue(box, 'job', `${LOG_START}; exit 1`, AT_MOST_ONCE);
  await enqueue(box, 'plain', 'false', { max_retries: 1 });
  await drain(box);

  const dlqRetry = await box.run(['dlq', 'retry', '--all', '--json']);
  expect(dlqRetry.code).toBe(7);
  expect(JSON.parse(dlqRetry.stdout)).toEqual({ retried: ['plain'], skipped: ['job'] });
  expect(dlqRetry.stderr).toContain('1 job was skipped, because at-most-once');
  await drain(box);
  const bulkRetry = await box.run(['retry', '--state', 'dead', '--yes', '--json']);
  expect(bulkRetry.code).toBe(7);
  expect(JSON.parse(bulkRetry.stdout)).toEqual({
    retried: ['plain'],
    unchanged: ['job'],
    skipped: ['job'],
  });
  expect(bulkRetry.stderr).toContain('1 job was skipped, because at-most-once');
  await drain(box);
  await box.json(['delete', 'plain']);
  expectRefusal(await box.run(['dlq', 'retry', '--all']), 4, /nothing was retried: 1 job was skipped/);
  expectRefusal(
    await box.run(['retry', '--state', 'dead', '--yes']),
    4,
    /nothing was retried: 1 job was skipped/,
  );
  expect(startCount(box)).toBe(1);

  for (const [i, command] of [['retry'], ['dlq', 'retry']].entries()) {
    const retried = await box.run([...command, 'job', '--json']);
    expect(retried.code).toBe(0);
    expect(JSON.parse(retried.stdout)).toMatchObject({ retried: ['job'], started_again: ['job'] });
    expect(retried.stderr).toContain("job 'job' is an at-most-once job that has already been started");
    await drain(box);
    // The retried job has only one attempt, too.
    expect(await show(box)).toMatchObject({ state: 'dead', attempts: 1 });
    expect(startCount(box)).toBe(2 + i);
  }
});

test('an at-most-once job that never started is retried in bulk like any other', async (box) => {
  await enqueue(box, 'job', LOG_START, AT_MOST_ONCE);
  await box.json(['cancel', 'job']);
  const retried = await box.run(['retry', '--state', 'cancelled', '--json']);
  expect(retried).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(retried.stdout)).toEqual({ retried: ['job'], unchanged: [] });
  await drain(box);
  expect(await show(box)).toMatchObject({ state: 'completed' });
});

test('an at-most-once job with max_retries above 1 is refused at enqueue, in a schedule and in an edit', async (box) => {
  const refusal = /max.retries is 3, but an at-most-once job has only one attempt/;
  const jobObject = { command: 'true', max_retries: 3, at_most_once: true };
  const flags = ['--max-retries', '3', '--at-most-once'];
  for (const args of [
    ['enqueue', 'true', ...flags],
    ['enqueue', JSON.stringify(jobObject)],
    ['enqueue', JSON.stringify({ command: 'true', max_retries: 3 }), '--at-most-once'],
    ['run', 'true', ...flags],
    ['schedule', 'add', 'often', '--every', '1h', ...flags, 'true'],
  ]) {
    const refused = await box.run(args);
    expectRefusal(refused, args[0] === 'run' ? 125 : 2, refusal);
  }
  expect(await box.run(['list', '--json'])).toMatchObject({ stdout: '[]\n' });
  const jsonLines = [{ command: 'true' }, jobObject].map((job) => JSON.stringify(job)).join('\n');
  const fromFile = await box.run(['enqueue', '--file', '-'], { stdin: jsonLines });
  expectRefusal(fromFile, 2, /^error: line 2: max_retries is 3/);

  await enqueue(box, 'job', 'true', { ...AT_MOST_ONCE, max_retries: 0 });
  await enqueue(box, 'other', 'true');
  expect(await show(box)).toMatchObject({ max_retries: 0, at_most_once: true });
  expectRefusal(await box.run(['edit', 'job', '--max-retries', '3']), 2, refusal);
  const edited = await box.run(['edit', 'job', 'other', '--max-retries', '3', '--json']);
  expect(edited.code).toBe(7);
  expect(JSON.parse(edited.stdout)).toEqual({ changed: ['other'], unchanged: ['job'] });
  expect(edited.stderr).toContain('at-most-once');
  expect(await box.json(['edit', 'job', '--max-retries', '1'])).toMatchObject({ changed: ['job'] });

  const schedule = ['schedule', 'add', 'hourly', '--every', '1h', '--at-most-once', 'true'];
  expect((await box.run(schedule)).code).toBe(0);
  expectRefusal(await box.run(['schedule', 'edit', 'hourly', '--max-retries', '3']), 2, refusal);
  const { id } = await box.json<{ id: string }>(['schedule', 'run', 'hourly']);
  expect(await show(box, id)).toMatchObject({ max_retries: 1, at_most_once: true });
});

test('an at-most-once job that would start again, as an imported file can contain it, is not started', async (box) => {
  await enqueue(box, 'job', `${LOG_START}; exit 1`, AT_MOST_ONCE);
  await drain(box);
  const db = new DatabaseSync(join(box.home, 'queue.db'), { timeout: 5000 });
  db.exec(`UPDATE job SET max_retries = 3, state = 'failed', phase = 'waiting', due_at = 1, finished_at = NULL;
    INSERT INTO log (at, old_queue, old_state, old_bytes, new_queue, new_state, new_bytes)
      SELECT 0, queue, 'dead', bytes, queue, state, bytes FROM job`);
  db.close();
  await drain(box);
  const job = await show(box);
  expect(job.state).toBe('dead');
  expect(job.last_error).toBe(
    'not started again because the job is at-most-once; first failure: exit code 1',
  );
  expect(startCount(box)).toBe(1);
  expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
});
