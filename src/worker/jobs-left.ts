import type { App } from '../actions/app.ts';
import { countJobs } from '../actions/jobs.ts';
import { WAITING_STATES } from '../core/waiting-reason.ts';
import { countOf } from '../core/words.ts';

const MAX_LISTED_IDS = 5;

/**
 * Describes the unfinished jobs of these queues, or of all queues for null. Returns '' if there are none. Returns null while
 * one of them is running or, in a queue that is not paused, due or waiting for a retry. Jobs that ask for a label or a host other
 * than `offers` are not waited for.
 */
export async function describeJobsLeft(
  app: App,
  queues: string[] | null,
  offers: string[],
): Promise<string | null> {
  if ((await app.store.busyQueues(app.clock.now(), queues, offers)).length > 0) return null;
  const ids: string[] = [];
  let total = 0;
  for (const queue of queues ?? [undefined]) {
    const filter = { ...(queue === undefined ? {} : { queue }), states: WAITING_STATES };
    total += await countJobs(app, filter);
    for (const job of await app.store.list(filter, { limit: MAX_LISTED_IDS })) ids.push(job.id);
  }
  if (total === 0) return '';
  const named = ids.slice(0, MAX_LISTED_IDS).join(', ') + (total > MAX_LISTED_IDS ? ', …' : '');
  return `${countOf(total)} ${total === 1 ? 'remains' : 'remain'} (due later, held, blocked, in a paused queue or for other workers): ${named}`;
}
