import { QueueError } from '../core/errors.ts';
import type { JobFilter } from '../core/filter.ts';
import type { App } from './app.ts';
import { listJobs } from './jobs.ts';

/** Which jobs an action is about: named ones, or all that match. */
export type Selection = { names: string[] } | { filter: JobFilter };

const LAST = '@last';
const SHOWN = 3;

/** The ids that are meant, in the order of enqueueing. A name is an id, the beginning of one, or @last. */
export async function selectJobs(app: App, selection: Selection): Promise<string[]> {
  if ('names' in selection) {
    const ids: string[] = [];
    for (const name of selection.names) ids.push(await findJob(app, name));
    return [...new Set(ids)];
  }
  const ids = await Array.fromAsync(listJobs(app, selection.filter, null), ({ id }) => id);
  return ids.reverse();
}

/** The one job that is meant by an id, by the beginning of one that no other has, or by @last. */
export async function findJob(app: App, name: string): Promise<string> {
  if (name === LAST) return lastJob(app);
  const ids = name === '' ? [] : await app.store.startingWith(name, SHOWN + 1);
  if (ids.length === 1) return ids[0]!;
  if (ids.length === 0) throw new QueueError('job-not-found', `there is no job '${name}'`);
  const some = ids.slice(0, SHOWN).join(', ') + (ids.length > SHOWN ? ', …' : '');
  throw new QueueError('ambiguous-id', `several ids start with '${name}': ${some}`);
}

async function lastJob(app: App): Promise<string> {
  const [job] = await app.store.list({}, { limit: 1 });
  if (job === undefined) throw new QueueError('job-not-found', 'there are no jobs yet');
  return job.id;
}
