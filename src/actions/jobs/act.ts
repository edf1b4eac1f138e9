import { type JobRule, joinReasons } from '../../core/jobs/job-action-rules.ts';
import { countOf, verbFor } from '../../core/text/words.ts';
import type { App } from '../app.ts';
import { cancelledBecauseOf, cancelledWith } from './jobs.ts';

/** The result of an action on several jobs. The lists contain ids. */
export interface JobActionResult {
  changed: string[];
  unchanged: string[];
  /** The reason why jobs stay unchanged, such as "had already finished". */
  why: string;
  /** The running jobs that were asked to end and are still being stopped. */
  ending?: string[];
  /** Unchanged at-most-once jobs that were started before. A bulk retry does not start them again. */
  skippedAtMostOnce?: string[];
  /** Retried at-most-once jobs that were started before. */
  retriedAtMostOnce?: string[];
  /** Jobs that were cancelled because they depended on changed jobs. The dependents of `ending` jobs are cancelled when these end. */
  alsoCancelled?: string[];
}

export function describeSkipped(count: number): string {
  return `${countOf(count)} ${verbFor(count, 'were')} skipped, because at-most-once jobs can only be retried by id`;
}

/** One transaction gets at most this many ids, so that other writers do not wait long. */
const BATCH_SIZE = 500;

/**
 * Calls `act` with one batch of ids after the other, and wakes the workers if jobs were changed. `act` returns the ids that it
 * changed. `rule` gives the reason why the others stay unchanged.
 */
export async function actOnJobs(
  app: App,
  ids: string[],
  rule: JobRule,
  act: (batch: string[]) => Promise<string[]>,
): Promise<JobActionResult> {
  const changed: string[] = [];
  for (const batch of batches(ids)) changed.push(...(await act(batch)));
  if (changed.length > 0) app.wakeups.wake();
  const changedIds = new Set(changed);
  const unchanged = ids.filter((id) => !changedIds.has(id));
  const why = (await previewJobs(app, unchanged, rule)).why || 'were changed by somebody else';
  return { changed, unchanged, why };
}

export function* batches(ids: string[]): Generator<string[]> {
  for (let i = 0; i < ids.length; i += BATCH_SIZE) yield ids.slice(i, i + BATCH_SIZE);
}

/** Returns which of these jobs an action with this rule would change now, and why it would leave the others unchanged. */
export async function previewJobs(app: App, ids: string[], rule: JobRule): Promise<JobActionResult> {
  const changed: string[] = [];
  const unchanged: string[] = [];
  const reasons = new Set<string>();
  for (const id of ids) {
    const job = await app.store.get(id);
    const why = job === null ? 'were deleted' : rule(job);
    if (why !== null) reasons.add(why);
    (why === null ? changed : unchanged).push(id);
  }
  return { changed, unchanged, why: joinReasons(reasons) };
}

const IN_OTHER_NAMESPACE =
  'were running in another pid namespace, where only a worker of that namespace can stop them';

export interface CancelOptions {
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
  if (ending.length + changed.length > 0) app.wakeups.wake();
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
