import { expect, test } from 'bun:test';
import { configure, inSandbox, type JobJson, untilState } from '../support/queuectl.ts';

interface JobDetails extends JobJson {
  history: { finished_at: string }[];
}

test(
  "a job's own backoff overrides the settings, field by field",
  inSandbox(async (box) => {
    await configure(box, { 'backoff-strategy': 'linear', 'retry-delay': '100s', 'backoff-max': '50s' });
    const jobs: [id: string, flags: string[], waitMs: number][] = [
      ['settings', [], 50_000],
      ['max', ['--backoff-max', '2h'], 100_000],
      ['delay', ['--retry-delay', '30s'], 30_000],
      ['exponential', ['--backoff', 'exponential', '--backoff-base', '7'], 7000],
      ['fixed', ['--backoff=fixed', '--retry-delay', '40s', '--backoff-max', '39s'], 39_000],
    ];
    for (const [id, flags] of jobs) await box.run(['enqueue', '--id', id, ...flags, 'exit 1']);
    await box.run(['enqueue', '--id', 'jitter', '--jitter', '1', 'exit 1']);
    await box.startWorkers('--concurrency', '4');
    const waited = async (id: string): Promise<number> => {
      await untilState(box, id, 'failed');
      const job = await box.json<JobDetails>(['show', id]);
      return Date.parse(job.next_run_at!) - Date.parse(job.history[0]!.finished_at);
    };
    for (const [id, , waitMs] of jobs) expect([id, await waited(id)]).toEqual([id, waitMs]);
    expect(await waited('jitter')).toBeLessThanOrEqual(50_000);
  }),
);
