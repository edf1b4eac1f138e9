import { expect } from 'bun:test';
import { configure, type JobJson, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

interface JobDetails extends JobJson {
  history: { finished_at: string }[];
}

test('each backoff option of a job overrides its setting', async (box) => {
  await configure(box, { 'backoff-strategy': 'linear', 'retry-delay': '100s', 'backoff-max': '50s' });
  const jobs: [id: string, flags: string[], delayMs: number][] = [
    ['settings', [], 50_000],
    ['max', ['--backoff-max', '2h'], 100_000],
    ['delay', ['--retry-delay', '30s'], 30_000],
    ['exponential', ['--backoff', 'exponential', '--backoff-base', '7'], 7000],
    ['fixed', ['--backoff=fixed', '--retry-delay', '40s', '--backoff-max', '39s'], 39_000],
  ];
  for (const [id, flags] of jobs) await box.run(['enqueue', '--id', id, ...flags, 'exit 1']);
  await box.run(['enqueue', '--id', 'jitter', '--jitter', '1', 'exit 1']);
  await box.startWorkers('--concurrency', '4');
  const retryDelayMs = async (id: string): Promise<number> => {
    await untilState(box, id, 'failed');
    const job = await box.json<JobDetails>(['show', id]);
    return Date.parse(job.next_run_at!) - Date.parse(job.history[0]!.finished_at);
  };
  for (const [id, , delayMs] of jobs) expect([id, await retryDelayMs(id)]).toEqual([id, delayMs]);
  expect(await retryDelayMs('jitter')).toBeLessThanOrEqual(50_000);
});

test('a job is not retried if --retry-on or --no-retry-on excludes its exit code', async (box) => {
  await box.startWorkers();
  await box.run(['enqueue', '--id', 'usage', '--no-retry-on', '64-78', 'exit 65']);
  await box.run(['enqueue', '--id', 'other', '--retry-on', '75', 'exit 1']);
  expect(await untilState(box, 'usage', 'dead')).toMatchObject({ attempts: 1, exit_code: 65 });
  expect(await untilState(box, 'other', 'dead')).toMatchObject({ attempts: 1, exit_code: 1 });
  expect((await box.run(['enqueue', '--no-retry-on', '5-3', 'true'])).code).toBe(2);
});
