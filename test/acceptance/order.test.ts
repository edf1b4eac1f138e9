import { expect } from 'bun:test';
import { join } from 'node:path';
import { type JobJson, lines, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

interface JobWithRunAt extends JobJson {
  run_at: string | null;
}

const LOG_ID = 'echo $QUEUECTL_JOB_ID >>ran';
const LOG_TIME = 'date +%s%N >>$QUEUECTL_JOB_ID';

const ranLines = (box: Sandbox): string[] => lines(join(box.directory, 'ran'));
const ranAtMs = (box: Sandbox, id: string): number => Number(lines(join(box.directory, id))[0]) / 1_000_000;

/** Makes polling so rare that only a wake-up or an exact timer can start a job. */
async function disablePolling(box: Sandbox): Promise<void> {
  for (const [key, value] of [
    ['lease', '1d'],
    ['heartbeat-interval', '10m'],
    ['poll-interval', '1h'],
  ]) {
    expect((await box.run(['config', 'set', key!, value!])).code).toBe(0);
  }
}

async function drain(box: Sandbox): Promise<string> {
  const workers = box.start(['worker', 'start', '--drain']);
  expect(await workers.exit).toBe(0);
  return workers.output();
}

test('jobs run by priority, then in the order in which they were enqueued, even in one batch', async (box) => {
  const batch = ['low', 'normal', 'high', 'urgent', 5, -3].flatMap((priority) =>
    [1, 2, 3].map((i) => ({ id: `p${priority}-${i}`, command: LOG_ID, priority })),
  );
  expect((await box.run(['enqueue', JSON.stringify(batch)])).code).toBe(0);
  for (const flag of ['9', 'high', '-11'])
    await box.run(['enqueue', '--id', `flag${flag}`, '-p', flag, LOG_ID]);
  await drain(box);
  const threeOf = (name: string): string[] => [1, 2, 3].map((i) => `p${name}-${i}`);
  expect(ranLines(box)).toEqual([
    ...[...threeOf('urgent'), ...threeOf('high'), 'flaghigh', 'flag9', ...threeOf('5')],
    ...[...threeOf('normal'), ...threeOf('-3'), ...threeOf('low'), 'flag-11'],
  ]);
});

test('jobs run in the order in which several processes enqueued them, across queues', async (box) => {
  const ids: string[] = [];
  for (let i = 0; i < 8; i++) {
    // The ids sort in the opposite order.
    ids.push(`job-${9 - i}`);
    await box.run(['enqueue', '--id', ids[i]!, '--queue', i % 2 ? 'a' : 'b', LOG_ID]);
  }
  const batch = Array.from({ length: 40 }, (_, i) => ({ id: `batch-${99 - i}`, command: LOG_ID }));
  await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(batch) });
  await drain(box);
  expect(ranLines(box)).toEqual([...ids, ...batch.map((job) => job.id)]);
});

test('a job with run_at or a delay starts when it is due, without polling', async (box) => {
  await disablePolling(box);
  await box.startWorkers('--concurrency', '8');
  const at = new Date(Date.now() + 3000).toISOString();
  const before = Date.now();
  const cases = [
    { id: 'run-at', args: ['--run-at', at] },
    { id: 'delay', args: ['--delay', '2s'] },
    { id: 'half', args: ['--delay', '1500ms'] },
    { id: 'plus', args: ['--run-at', '+3s'] },
  ];
  for (const { id, args } of cases) await box.run(['enqueue', '--id', id, ...args, LOG_TIME]);
  const object = { id: 'object', command: LOG_TIME, delay: 2.5 };
  const array = [{ id: 'epoch', command: LOG_TIME, scheduled_at: Math.ceil(Date.now() / 1000) + 3 }];
  for (const json of [object, array]) await box.run(['enqueue', JSON.stringify(json)]);

  const earliest = {
    'run-at': Date.parse(at),
    delay: before + 2000,
    half: before + 1500,
    plus: before + 3000,
  };
  for (const id of ['run-at', 'delay', 'half', 'plus', 'object', 'epoch']) {
    const job = (await untilState(box, id, 'completed')) as JobWithRunAt;
    const due = Date.parse(job.run_at!);
    expect(due).toBeGreaterThanOrEqual(earliest[id as keyof typeof earliest] ?? before);
    expect(ranAtMs(box, id)).toBeGreaterThanOrEqual(due);
    expect(job).toMatchObject({ attempts: 1, next_run_at: null });
  }
  expect((await box.json<JobWithRunAt>(['show', 'run-at'])).run_at).toBe(at);
});

test('a due job does not wait for an urgent job that is due later, and --drain reports the later job', async (box) => {
  await box.run(['enqueue', '--id', 'future', '-p', 'urgent', '--delay', '1h', LOG_ID]);
  await box.run(['enqueue', '--id', 'ready', '-p', 'low', LOG_ID]);
  const log = await drain(box);
  expect(ranLines(box)).toEqual(['ready']);
  expect(log).toContain('due later');
  const future = await box.json<JobWithRunAt>(['show', 'future']);
  expect(future).toMatchObject({ state: 'pending', attempts: 0, next_run_at: future.run_at! });
});

test('a worker with --queue runs jobs of its queues only', async (box) => {
  for (const queue of ['mail', 'other', 'reports', 'mail'])
    await box.run(['enqueue', '--queue', queue, 'echo $QUEUECTL_QUEUE >>ran']);
  const workers = await box.startWorkers('--queue', 'mail,reports');
  await until(() => ranLines(box).length === 3, 'the three jobs of its queues have run');
  const [worker] = await box.json<{ queues: string[] }[]>(['worker', 'list']);
  expect(worker!.queues.sort()).toEqual(['mail', 'reports']);
  await box.run(['worker', 'stop']);
  expect(await workers.exit).toBe(0);
  expect(ranLines(box)).toEqual(['mail', 'reports', 'mail']);
  expect((await box.json<JobJson[]>(['list', '--state', 'pending'])).length).toBe(1);
  await drain(box);
  expect(ranLines(box).at(-1)).toBe('other');
});

test('an idle worker starts new jobs, automatic retries and manually retried jobs without polling', async (box) => {
  await disablePolling(box);
  await box.startWorkers();
  for (const id of ['first', 'second', 'third']) {
    await box.run(['enqueue', '--id', id, LOG_ID]);
    await untilState(box, id, 'completed', 30_000);
  }
  await box.run(['enqueue', '--id', 'dies', '-r', '2', '--backoff-base', '1', `${LOG_ID}; false`]);
  await untilState(box, 'dies', 'dead', 30_000);
  await box.run(['dlq', 'retry', 'dies']);
  await until(() => ranLines(box).length === 7, 'the retried job has run twice more', 30_000);
  expect(ranLines(box)).toEqual(['first', 'second', 'third', 'dies', 'dies', 'dies', 'dies']);
  // A stop does not wait for a poll either.
  const stopped = await box.run(['worker', 'stop', '--timeout', '30s']);
  expect(stopped).toMatchObject({ code: 0, stdout: 'stopped 1 worker\n' });
});
