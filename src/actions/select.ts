import { QueueError } from '../core/errors.ts';
import type { JobFilter } from '../core/filter.ts';
import type { App } from './app.ts';
import { listJobs } from './jobs.ts';

/** Selects the jobs for an action by references or by a filter. A reference is an id, a unique prefix of an id, or `@last`. */
export type Selection = { references: string[] } | { filter: JobFilter };

const LAST_JOB = '@last';
/** The error about an ambiguous prefix lists at most this many ids. */
const LISTED_IDS = 3;

/** Returns the ids of the selected jobs: in the order of the references, or of enqueueing for a filter. */
export async function selectJobs(app: App, selection: Selection): Promise<string[]> {
  if ('references' in selection) {
    const ids: string[] = [];
    for (const reference of selection.references) ids.push(await findJobId(app, reference));
    return [...new Set(ids)];
  }
  const ids = await Array.fromAsync(listJobs(app, selection.filter, null), ({ id }) => id);
  return ids.reverse();
}

/** Returns the id of the job with this id or unique prefix. `@last` is the job that was enqueued last. */
export async function findJobId(app: App, reference: string): Promise<string> {
  if (reference === LAST_JOB) {
    const [job] = await app.store.list({}, { limit: 1 });
    if (job === undefined)
      throw new QueueError(
        'job-not-found',
        'there are no jobs yet',
        "to add one: queuectl enqueue 'echo hello'",
      );
    return job.id;
  }
  const ids = reference === '' ? [] : await app.store.idsStartingWith(reference, LISTED_IDS + 1);
  if (ids.length === 1) return ids[0]!;
  if (ids.length === 0) throw new QueueError('job-not-found', `there is no job '${reference}'`);
  const listed = ids.slice(0, LISTED_IDS).join(', ') + (ids.length > LISTED_IDS ? ', …' : '');
  throw new QueueError('ambiguous-id', `several ids start with '${reference}': ${listed}`);
}
