import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JobJson, lines, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

interface JobDetails extends JobJson {
  max_retries: number;
  history: { attempt: number; exit_code: number; error: string; started_at: string; finished_at: string }[];
}

/** A command that appends the time in ns to the file `ran`, prints why it fails, and succeeds once `flag` exists. */
const FAIL_UNTIL_FLAG = 'date +%s%N >>ran; echo "no flag yet"; [ -e flag ]';

const show = (box: Sandbox, id: string): Promise<JobDetails> => box.json<JobDetails>(['show', id]);
const runTimesMs = (box: Sandbox): number[] =>
  lines(join(box.directory, 'ran')).map((line) => Number(line) / 1_000_000);

/** Returns the time from the end of the last attempt to the next one. */
function retryDelayMs(job: JobDetails): number {
  return Date.parse(job.next_run_at!) - Date.parse(job.history.at(-1)!.finished_at);
}

test('a job with max_retries 4 waits 2, 4 and 8 s, becomes dead, is in dlq list, and completes after dlq retry', async (box) => {
  await box.run(['enqueue', JSON.stringify({ id: 'flaky', command: FAIL_UNTIL_FLAG, max_retries: 4 })]);
  await box.startWorkers('--count', '2');

  const failedJobs = new Map<number, JobDetails>();
  await until(async () => {
    const job = await show(box, 'flaky');
    if (job.state === 'failed') failedJobs.set(job.attempts, job);
    return job.state === 'dead';
  }, 'the job is dead');
  // On a busy machine this loop may miss a short delay, but not the longest one.
  expect(failedJobs.has(3)).toBe(true);
  for (const [attempts, job] of failedJobs) {
    expect(retryDelayMs(job)).toBe(2 ** attempts * 1000);
    expect(job.exit_code).toBe(1);
    expect(job.last_error).toBe('exit code 1: no flag yet');
  }

  const times = runTimesMs(box);
  expect(times.length).toBe(4);
  for (const [i, seconds] of [2, 4, 8].entries()) {
    const gap = times[i + 1]! - times[i]!;
    expect(gap).toBeGreaterThanOrEqual(seconds * 1000);
    expect(gap).toBeLessThan(seconds * 1000 + 15_000);
  }

  const dead = await show(box, 'flaky');
  expect(dead).toMatchObject({ attempts: 4, max_retries: 4, exit_code: 1, next_run_at: null, crashes: 0 });
  const row = (await box.run(['dlq', 'list'])).stdout.trimEnd().split('\t');
  expect(row).toEqual([
    ...['flaky', 'default', '4/4', '1', expect.stringMatching(/^\d{4}-.*Z$/)],
    ...[FAIL_UNTIL_FLAG, 'exit code 1: no flag yet'],
  ]);
  const listed = await box.json<JobDetails[]>(['dlq', 'list']);
  expect(listed.map((job) => [job.id, job.state, job.attempts])).toEqual([['flaky', 'dead', 4]]);

  writeFileSync(join(box.directory, 'flag'), '');
  const retried = await box.run(['dlq', 'retry', 'flaky']);
  expect(retried).toMatchObject({ code: 0, stderr: '' });
  const done = { ...(await untilState(box, 'flaky', 'completed')), ...(await show(box, 'flaky')) };
  expect(done).toMatchObject({ attempts: 1, max_retries: 4, command: FAIL_UNTIL_FLAG, exit_code: 0 });
  expect(done.history.map((one) => [one.attempt, one.exit_code])).toEqual([
    ...[1, 2, 3, 4].map((attempt) => [attempt, 1]),
    [5, 0],
  ]);
  expect(runTimesMs(box).length).toBe(5);
  expect(await box.json<unknown[]>(['dlq', 'list'])).toEqual([]);
});

test('waiting retries survive a SIGKILL of the supervisor and its workers, and run when they are due', async (box) => {
  const job = (id: string, base: number) => ({
    ...{ id, command: `date +%s%N >>${id}; exit 3`, max_retries: 2, backoff_base: base },
  });
  const jobs = [job('soon', 1), job('later', 10)];
  await box.run(['enqueue', JSON.stringify(jobs)]);
  const workers = await box.startWorkers('--count', '2');
  const before = await untilState(box, 'later', 'failed');
  const pids = (await box.json<{ pid: number }[]>(['worker', 'list'])).map((worker) => worker.pid);
  expect(pids.length).toBe(2);
  for (const pid of [workers.pid, ...pids]) process.kill(pid, 'SIGKILL');
  await workers.exit;
  await until(async () => (await box.json<unknown[]>(['worker', 'list'])).length === 0, 'no worker lives');
  expect((await show(box, 'later')).next_run_at).toBe(before.next_run_at);
  expect((await show(box, 'later')).state).toBe('failed');

  await box.startWorkers();
  for (const id of ['soon', 'later']) {
    const dead = await untilState(box, id, 'dead');
    expect(dead).toMatchObject({ attempts: 2, crashes: 0, exit_code: 3 });
    expect(lines(join(box.directory, id)).length).toBe(2);
  }
  const secondRunMs = Number(lines(join(box.directory, 'later'))[1]) / 1_000_000;
  const due = Date.parse(before.next_run_at!);
  expect(secondRunMs).toBeGreaterThanOrEqual(due);
  expect(secondRunMs).toBeLessThan(due + 20_000);
});

test('dlq retry exits with 4 for a job that is not dead and with 3 for an unknown job, and changes nothing', async (box) => {
  const jobs = [
    { id: 'dead', command: 'false', max_retries: 1 },
    { id: 'done', command: 'true' },
    { id: 'failed', command: 'false', backoff_base: 1000 },
    { id: 'waiting', command: 'true', delay: 3600 },
  ];
  await box.run(['enqueue', JSON.stringify(jobs)]);
  await box.startWorkers();
  await untilState(box, 'dead', 'dead');
  await untilState(box, 'done', 'completed');
  await untilState(box, 'failed', 'failed');

  const before = await Promise.all(jobs.map(({ id }) => show(box, id)));
  for (const id of ['done', 'failed', 'waiting']) {
    for (const ids of [[id], ['dead', id], [id, 'dead']]) {
      const refused = await box.run(['dlq', 'retry', ...ids]);
      expect(refused).toMatchObject({ code: 4, stdout: '' });
      expect(refused.stderr).toMatch(new RegExp(`^error: .*'${id}'`));
    }
  }
  for (const ids of [['nobody'], ['dead', 'nobody']]) {
    expect(await box.run(['dlq', 'retry', ...ids])).toMatchObject({ code: 3, stdout: '' });
  }
  expect(await Promise.all(jobs.map(({ id }) => show(box, id)))).toEqual(before);

  const all = await box.run(['dlq', 'retry', '--all']);
  expect(all.code).toBe(0);
  const again = await until(async () => {
    const job = await show(box, 'dead');
    return job.history.length === 2 && job.state === 'dead' ? job : false;
  }, 'the retried job has run again');
  expect(again.attempts).toBe(1);
});
