import { batches, type JobActionResult } from './act.ts';
import type { App } from './app.ts';
import { cancelledBecauseOf, cancelledWith } from './jobs.ts';

const IN_OTHER_NAMESPACE =
  'were running in another pid namespace, where only a worker of that namespace can stop them';

interface CancelOptions {
  /** Waits until running jobs have ended or turn out to be in another pid namespace. Returns the ids of the cancelled jobs. */
  untilEnded?: (app: App, ids: string[]) => Promise<string[]>;
  /** The first signal for running jobs. The default is SIGTERM. */
  signal?: NodeJS.Signals | undefined;
}

/** Cancels waiting jobs and asks running jobs to end. Without `untilEnded`, the result lists the running jobs as `ending`. */
export async function cancelJobs(
  app: App,
  ids: string[],
  { untilEnded, signal }: CancelOptions = {},
): Promise<JobActionResult> {
  const changed: string[] = [];
  const ending: string[] = [];
  const alreadyEnded: string[] = [];
  const dependents = new Set<string>();
  for (const batch of batches(ids)) {
    const batchResult = await app.store.cancel(batch, app.clock.now(), signal);
    changed.push(...batchResult.cancelled);
    ending.push(...batchResult.ending);
    alreadyEnded.push(...batchResult.ended);
    for (const id of batchResult.dependents) dependents.add(id);
  }
  if (ending.length + changed.length > 0) app.signals.wake();
  // A job in `alreadyEnded` may have been cancelled by this call, with its parent in an earlier batch.
  const unchanged = alreadyEnded.filter((id) => !dependents.has(id));
  changed.push(...alreadyEnded.filter((id) => dependents.delete(id)));
  const result: JobActionResult = { changed, unchanged, why: 'had already finished' };
  if (untilEnded === undefined) {
    // Some of these jobs may have ended already, and then their children are cancelled.
    for (const id of await cancelledWith(app, ending, 'cancelled')) dependents.add(id);
    for (const id of await cancelledBecauseOf(app, ending, { ends: 'last' })) dependents.add(id);
    return { ...result, ending, alsoCancelled: [...dependents.difference(new Set(ids))] };
  }
  const cancelled = await untilEnded(app, ending);
  changed.push(...cancelled);
  // A job that ended by itself, or that only another pid namespace can stop, was not cancelled.
  for (const id of ending.filter((one) => !cancelled.includes(one))) {
    unchanged.push(id);
    if ((await app.store.get(id))?.state === 'processing') result.why = IN_OTHER_NAMESPACE;
  }
  for (const id of await cancelledBecauseOf(app, cancelled, { ends: 'last' })) dependents.add(id);
  return { ...result, alsoCancelled: [...dependents.difference(new Set(ids))] };
}
