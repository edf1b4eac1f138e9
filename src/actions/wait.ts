import { QueueError } from '../core/errors.ts';
import { FINAL_STATES, type Job } from '../core/job.ts';
import type { App } from './app.ts';
import { getJob } from './jobs.ts';

const LOOK_MS = 50;

/** Waits until the job is completed, dead or cancelled. */
export async function waitFor(app: App, id: string, timeoutMs: number | null): Promise<Job> {
  const start = app.clock.monotonic();
  for (;;) {
    const job = await getJob(app, id);
    if (FINAL_STATES.includes(job.state)) return job;
    if (timeoutMs !== null && app.clock.monotonic() - start > timeoutMs) {
      throw new QueueError('timeout', `job '${id}' is still ${job.state}`, `queuectl show ${id}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
