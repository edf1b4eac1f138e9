import { QueueError } from '../core/errors.ts';
import type { State } from '../core/job.ts';
import { wake } from '../exec/wake.ts';
import type { App } from './app.ts';
import { getJob, listJobs } from './jobs.ts';

const RETRYABLE: readonly State[] = ['dead', 'cancelled', 'failed'];

/** Puts jobs back in their queue, uncharged and due now: all that are named, or none. */
export async function retry(app: App, ids: string[], from: readonly State[] = RETRYABLE): Promise<string[]> {
  const unique = [...new Set(ids)];
  for (const id of unique) {
    const job = await getJob(app, id);
    if (!from.includes(job.state)) throw wrongState(id, job.state, from);
  }
  return putBack(app, unique, from);
}

/** Every dead job. */
export async function retryAllDead(app: App): Promise<string[]> {
  const ids: string[] = [];
  for await (const job of listJobs(app, { states: ['dead'] }, null)) ids.push(job.id);
  // Oldest first, so that they run again in the order in which they were enqueued.
  return putBack(app, ids.reverse(), ['dead']);
}

async function putBack(app: App, ids: string[], from: readonly State[]): Promise<string[]> {
  const changed = await app.store.retry(ids, from, app.clock.now());
  if (changed.length > 0) wake(app.stateDirectory);
  return changed;
}

export function wrongState(id: string, state: State, wanted: readonly State[]): QueueError {
  return new QueueError(
    'wrong-state',
    `job '${id}' is ${state}, not ${wanted.join(' or ')}`,
    `queuectl show ${id}`,
  );
}
