import { expect } from 'bun:test';
import { attemptNames } from '../support/attempt-files.ts';
import { startGatedJob } from '../support/gated-job.ts';
import { configure, enqueue, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

interface PruneJson {
  dry_run: boolean;
  jobs: number;
  bytes: number;
  events: number;
  keep_events: string;
  states: { state: string; keep: string; jobs: number; bytes: number }[];
}

const prune = (box: Sandbox, ...args: string[]) => box.json<PruneJson>(['prune', ...args]);
const listIds = async (box: Sandbox, ...args: string[]): Promise<string[]> =>
  (await box.run(['list', '--quiet', ...args])).stdout.trim().split('\n').filter(Boolean).sort();

/** Output of this many bytes is kept in a file and not in the database. */
const LONG_OUTPUT_BYTES = 40_000;

/** Adds three completed jobs with long output, two dead ones, a cancelled one and one that is due later. */
async function addJobs(box: Sandbox): Promise<void> {
  for (const id of ['a', 'b', 'c']) await enqueue(box, id, `head -c ${LONG_OUTPUT_BYTES} /dev/zero`);
  for (const id of ['x', 'y']) await enqueue(box, id, 'echo no; exit 1', { max_retries: 1 });
  await box.run(['worker', 'start', '--drain', '--quiet']);
  await enqueue(box, 'gone', 'true');
  await box.run(['cancel', 'gone']);
  await enqueue(box, 'later', 'true', { delay: 3600 });
}

test('a dry run counts the jobs above a limit and removes nothing, and prune removes them and their output', async (box) => {
  await addJobs(box);
  const all = await listIds(box);
  expect(attemptNames(box)).toHaveLength(3);
  expect(await prune(box)).toMatchObject({ dry_run: false, jobs: 0, bytes: 0 });
  await configure(box, { 'keep-completed': '1', 'keep-cancelled': '0', 'keep-dead': '1' });
  const states = [
    { state: 'completed', keep: '1', jobs: 2, bytes: 2 * LONG_OUTPUT_BYTES },
    { state: 'cancelled', keep: '0', jobs: 1, bytes: 0 },
    { state: 'dead', keep: '1', jobs: 1, bytes: 3 },
  ];
  const result = { jobs: 4, bytes: 2 * LONG_OUTPUT_BYTES + 3, events: 0, keep_events: '7d', states };
  expect(await prune(box, '--dry-run')).toEqual({ dry_run: true, ...result });
  expect([await listIds(box), attemptNames(box).length]).toEqual([all, 3]);
  expect(await prune(box)).toEqual({ dry_run: false, ...result });
  expect(await listIds(box)).toEqual(['c', 'later', 'y']);
  expect(attemptNames(box)).toHaveLength(1);
  expect((await box.run(['logs', 'c'])).stdout).toHaveLength(LONG_OUTPUT_BYTES);
  expect(await prune(box)).toMatchObject({ jobs: 0, bytes: 0 });
});

test('prune limits completed jobs by size or by age, and prints a line per state in a pipe', async (box) => {
  await addJobs(box);
  await configure(box, { 'keep-completed': `${2 * LONG_OUTPUT_BYTES + 1000}b` });
  expect((await box.run(['prune'])).stdout.split('\n').map((line) => line.split('\t'))).toEqual([
    ['completed', `${2 * LONG_OUTPUT_BYTES + 1000}B`, '1', String(LONG_OUTPUT_BYTES)],
    ['cancelled', '30d', '0', '0'],
    ['dead', 'none', '0', '0'],
    ['events', '7d', '0', '0'],
    [''],
  ]);
  expect(await listIds(box, '--state', 'completed')).toEqual(['b', 'c']);
  await configure(box, { 'keep-completed': '1d,1ms', 'keep-dead': '1h' }).catch(() => {});
  expect((await box.run(['config', 'get', 'keep-completed'])).stdout).toBe(
    `${2 * LONG_OUTPUT_BYTES + 1000}B\n`,
  );
  await configure(box, { 'keep-completed': '1ms', 'keep-dead': '1h' });
  await until(async () => (await prune(box)).states[0]!.jobs === 2, 'a millisecond has passed');
  expect(await listIds(box)).toEqual(['gone', 'later', 'x', 'y']);
  expect(attemptNames(box)).toEqual([]);
});

test('a worker prunes jobs that ended before it started, and keeps a running job', async (box) => {
  await addJobs(box);
  await configure(box, { 'keep-completed': '0', 'keep-dead': '0' });
  const supervisor = await box.startWorkers('--concurrency', '2');
  const job = await startGatedJob(box, 'runs');
  await until(() => / pruned \d+ jobs?/.test(supervisor.output()), 'the log reports the pruned jobs');
  expect(await listIds(box)).toEqual(['gone', 'later', 'runs']);
  expect(attemptNames(box)).toHaveLength(1);
  await configure(box, { 'keep-completed': 'none' });
  job.release();
  await untilState(box, 'runs', 'completed');
});

test('if keep-events is a number, prune removes older events and a dry run counts them', async (box) => {
  await enqueue(box, 'a', 'true');
  await enqueue(box, 'b', 'true');
  await configure(box, { 'keep-events': '1' });
  expect(await prune(box, '--dry-run')).toMatchObject({ events: 2, keep_events: '1' });
  expect(await prune(box)).toMatchObject({ events: 2, jobs: 0 });
  expect(await prune(box)).toMatchObject({ events: 0 });
  const remaining = await box.run(['events']);
  expect(JSON.parse(remaining.stdout)).toMatchObject({ number: 3, kind: 'setting-set', value: '1' });
  expectRefusal(await box.run(['config', 'set', 'keep-events', '1G']), 2, /only by age or number/);
});

test('invalid limits are refused and change nothing', async (box) => {
  for (const text of ['500m', '7d,30d', 'for ever', '-1', '1.5', '0s', '5000d']) {
    expectRefusal(await box.run(['config', 'set', 'keep-completed', text]), 2, /keep-completed/);
  }
  expect((await box.run(['config', 'get', 'keep_completed'])).stdout).toBe('30d\n');
  expectRefusal(await box.run(['prune', 'x']), 2, /prune/);
});
