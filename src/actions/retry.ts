import { QueueError } from '../core/errors.ts';
import type { State } from '../core/job.ts';
import { either } from '../core/words.ts';
import { keyTaken, RETRYABLE, type Retried, retryJobs } from './act.ts';
import type { App } from './app.ts';
import { getJob } from './jobs.ts';
import { selectJobs } from './select.ts';

/** Puts jobs back in their queue, uncharged and due now: all that are named, or an error. */
export async function retry(app: App, ids: string[], from: readonly State[] = RETRYABLE): Promise<Retried> {
  const unique = [...new Set(ids)];
  for (const id of unique) {
    const job = await getJob(app, id);
    if (!from.includes(job.state)) throw wrongState(id, job.state, from, againHint(id, job.state));
    const holder = await app.store.keyHolder(id, from, app.clock.now());
    if (holder !== null) throw keyless(id, keyTaken(holder));
  }
  const retried = await retryJobs(app, unique, { from });
  if (retried.keyless.length > 0) throw keyless(retried.keyless[0]!, retried.why);
  const [missed] = retried.unchanged;
  if (missed !== undefined) throw wrongState(missed, (await getJob(app, missed)).state, from);
  return retried;
}

/** Returns the commands that run a job again which cannot be retried. */
export function againHint(id: string, state: State): string {
  if (state === 'completed') return `to run it again as a new job: queuectl enqueue --again ${id}`;
  if (state === 'processing')
    return `to stop it and run it again: queuectl cancel ${id}, then queuectl retry ${id}; to run it as a second job: queuectl enqueue --again ${id}`;
  if (state === 'pending') return `to see why it is not running: queuectl explain ${id}`;
  return `to show the job: queuectl show ${id}`;
}

/** Retries every dead job in the order of enqueueing, except at-most-once jobs. */
export async function retryAllDead(app: App): Promise<Retried> {
  const ids = await selectJobs(app, { filter: { states: ['dead'] } });
  return retryJobs(app, ids, { from: ['dead'], bulk: true });
}

export function keyless(id: string, why: string): QueueError {
  return new QueueError('wrong-state', `job '${id}' ${why}`, `queuectl show ${id}`);
}

export function wrongState(
  id: string,
  state: State,
  wanted: readonly State[],
  hint = `to show the job: queuectl show ${id}`,
): QueueError {
  return new QueueError('wrong-state', `job '${id}' is ${state}, not ${either(wanted)}`, hint);
}
