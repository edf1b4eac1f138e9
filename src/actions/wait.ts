import { QueueError } from '../core/errors.ts';
import { FINAL_STATES, type Job } from '../core/job.ts';
import type { App } from './app.ts';
import { type ChangeWatch, type WatchOptions, watchChanges } from './change-watch.ts';
import { getJob } from './jobs.ts';

export interface WaitOptions extends WatchOptions {
  /** Waits only until the first of the jobs has ended. */
  any?: boolean;
  /** Is called with each job after it has ended. */
  onEnd?(job: Job): void;
}

/** Waits until the jobs are completed, dead or cancelled. Returns them in the given order, or with `any` only the first that ended. */
export async function waitFor(app: App, ids: string[], options: WaitOptions): Promise<Job[]> {
  const watch = watchChanges(app, options);
  try {
    // All ids are checked first, because a wrong one should not be reported after a long wait.
    for (const id of ids) await getJob(app, id);
    const endedJobs: Job[] = [];
    // Without `any`, the jobs are awaited one after the other, so that each change costs only one read.
    for (const group of options.any ? [ids] : ids.map((id) => [id])) {
      const job = await firstEnded(app, group, watch);
      options.onEnd?.(job);
      endedJobs.push(job);
    }
    return endedJobs;
  } finally {
    watch.close();
  }
}

async function firstEnded(app: App, ids: string[], watch: ChangeWatch): Promise<Job> {
  for (;;) {
    let lastRead: Job | undefined;
    for (const id of ids) {
      lastRead = await getJob(app, id);
      if (FINAL_STATES.includes(lastRead.state)) return lastRead;
    }
    if (watch.isTimedOut) throw waitTimeoutError(lastRead!);
    await watch.next();
  }
}

export function waitTimeoutError(job: Job): QueueError {
  return new QueueError(
    'timeout',
    `the wait timed out: job '${job.id}' is still ${job.state}`,
    `to see why: queuectl explain ${job.id}`,
  );
}
