import { QueueError } from '../core/errors.ts';
import { FINAL_STATES, type Job } from '../core/job.ts';
import type { App } from './app.ts';
import { getJob } from './jobs.ts';
import { startWaiting, type Waiting, type WaitingOptions } from './waiting.ts';

/** Should a wake-up get lost, a look this often finds out. */
const SAFETY_MS = 1000;

export interface WaitOptions extends WaitingOptions {
  /** The first that ends is enough. */
  any?: boolean;
  /** Told of each job that was waited for, once it has ended. */
  onEnd?(job: Job): void;
}

/** Waits until the jobs are completed, dead or cancelled. Answers those that are, in the order given. */
export async function waitFor(app: App, ids: string[], options: WaitOptions): Promise<Job[]> {
  const waiting = startWaiting(app, options);
  try {
    // All of them first: an id that does not exist is no reason to wait for the others.
    for (const id of ids) await getJob(app, id);
    const ended: Job[] = [];
    // One after the other, so that a change costs one look, however many jobs there are; for any of them, all.
    for (const group of options.any ? [ids] : ids.map((id) => [id])) {
      const job = await firstEnded(app, group, waiting);
      options.onEnd?.(job);
      ended.push(job);
    }
    return ended;
  } finally {
    waiting.close();
  }
}

async function firstEnded(app: App, ids: string[], waiting: Waiting): Promise<Job> {
  for (;;) {
    let last: Job | undefined;
    for (const id of ids) {
      last = await getJob(app, id);
      if (FINAL_STATES.includes(last.state)) return last;
    }
    if (waiting.over) throw stillNotOver(last!);
    await waiting.next(SAFETY_MS);
  }
}

export function stillNotOver(job: Job): QueueError {
  return new QueueError(
    'timeout',
    `the wait timed out: job '${job.id}' is still ${job.state}`,
    `to see why: queuectl explain ${job.id}`,
  );
}
