import type { App } from '../actions/app.ts';

/** Null while a job is ready, running or waiting for a retry; else what is left, in words (empty: nothing). */
export async function whatIsLeft(app: App, queues: string[] | null): Promise<string | null> {
  const due = await app.store.nextDue(queues);
  if (due !== null && due <= app.clock.now()) return null;
  let later = 0;
  for (const { queue, state, jobs } of await app.store.counts()) {
    if (queues !== null && !queues.includes(queue)) continue;
    if (state === 'processing' || state === 'failed') return null;
    if (state === 'pending') later += jobs;
  }
  return later === 0 ? '' : `${later} ${later === 1 ? 'job is' : 'jobs are'} due later`;
}
