import { QueueError } from '../../core/errors.ts';
import { FINAL_STATES, type Job } from '../../core/jobs/job.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import type { App } from '../app.ts';
import { getJob } from './jobs.ts';

export interface WaitForOptions extends WatchOptions {
  /** Waits only until the first of the jobs has ended. */
  any?: boolean;
  /** Is called with each job after it has ended. */
  onEnd?(job: Job): void;
}

/** Waits until the jobs are completed, dead or cancelled. Returns them in the given order, or with `any` only the first that ended. */
export async function waitFor(app: App, ids: string[], options: WaitForOptions): Promise<Job[]> {
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
    `to see why: queuectl explain ${shellWord(job.id)}`,
  );
}

/** The polling interval while changes are reported, in case a report gets lost. */
const POLL_MS = 1000;
/** The polling interval if reports of changes cannot be received. */
const UNWATCHED_POLL_MS = 100;
/** The shortest time between two polls. Without it, a busy queue would cause a poll for every change. */
const SHORTEST_INTERVAL_MS = 20;

export interface WatchOptions {
  /** How long to wait in total, or null for no limit. */
  timeoutMs: number | null;
  /** Ends the wait when it aborts. Its reason is thrown. */
  signal?: AbortSignal | undefined;
}

export type ChangeWatch = ReturnType<typeof watchChanges>;

/** Starts to watch for changes. A change before the first call of `next` makes that call resolve at once. */
export function watchChanges(app: App, { timeoutMs, signal }: WatchOptions) {
  const now = (): number => app.clock.monotonic();
  const deadline = timeoutMs === null ? Number.POSITIVE_INFINITY : now() + timeoutMs;
  let hasChanged = false;
  let lastPoll = Number.NEGATIVE_INFINITY;
  let wakeUp = (): void => {};
  const untilNextPollMs = (): number => Math.max(0, lastPoll + SHORTEST_INTERVAL_MS - now());
  const unwatch = app.wakeups.onChange(() => {
    if (hasChanged) return;
    hasChanged = true;
    setTimeout(() => wakeUp(), untilNextPollMs());
  });
  const onAbort = (): void => wakeUp();
  signal?.addEventListener('abort', onAbort);

  return {
    /** Resolves when there was a change since the previous call returned, or after at most `ms`, or at the timeout. Throws when the signal aborts. */
    async next(ms = POLL_MS): Promise<void> {
      signal?.throwIfAborted();
      const maxMs = unwatch === null ? Math.min(ms, UNWATCHED_POLL_MS) : ms;
      await new Promise<void>((resolve) => {
        const leftMs = Math.max(0, deadline - now());
        // The timer also keeps the process alive, which the watch does not.
        const timer = setTimeout(() => wakeUp(), Math.min(hasChanged ? untilNextPollMs() : maxMs, leftMs));
        wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      hasChanged = false;
      lastPoll = now();
      signal?.throwIfAborted();
    },
    /** Tells whether the timeout has passed. */
    get isTimedOut(): boolean {
      return now() >= deadline;
    },
    close(): void {
      signal?.removeEventListener('abort', onAbort);
      unwatch?.();
    },
  };
}
