import type { App } from '../actions/app.ts';
import { countJobs } from '../actions/jobs.ts';

const NAMED = 5;

/** Null while a job is ready, running or waiting for a retry; else what is left, in words (empty: nothing). */
export async function whatIsLeft(app: App, queues: string[] | null): Promise<string | null> {
  const due = await app.store.nextDue(queues, app.clock.now());
  if (due !== null && due <= app.clock.now()) return null;
  const later: string[] = [];
  let total = 0;
  for (const queue of queues ?? [undefined]) {
    const of = queue === undefined ? {} : { queue };
    if ((await countJobs(app, { ...of, states: ['processing', 'failed'] })) > 0) return null;
    total += await countJobs(app, { ...of, states: ['pending'] });
    for (const job of await app.store.list({ ...of, states: ['pending'] }, { limit: NAMED }))
      later.push(job.id);
  }
  if (total === 0) return '';
  const named = later.slice(0, NAMED).join(', ') + (total > NAMED ? ', …' : '');
  return `${total} ${total === 1 ? 'job is' : 'jobs are'} due later: ${named}`;
}
