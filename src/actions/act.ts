import { countOf, verbFor } from '../core/words.ts';
import type { App } from './app.ts';

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
  /** Other jobs that were cancelled, because they depended on changed jobs. Those of `ending` jobs are cancelled with them. */
  alsoCancelled?: string[];
}

export function describeSkipped(count: number): string {
  return `${countOf(count)} ${verbFor(count, 'were')} skipped, because at-most-once jobs can only be retried by id`;
}

/** One transaction gets at most this many ids, so that other writers do not wait long. */
const BATCH_SIZE = 500;

/**
 * Calls `act` with one batch of ids after the other, and wakes the workers if jobs were changed. `act` returns the ids that it
 * changed. `why` is the reason why the others stay unchanged.
 */
export async function actOnJobs(
  app: App,
  ids: string[],
  why: string,
  act: (batch: string[]) => Promise<string[]>,
): Promise<JobActionResult> {
  const changed: string[] = [];
  for (const batch of batches(ids)) changed.push(...(await act(batch)));
  if (changed.length > 0) app.signals.wake();
  const changedIds = new Set(changed);
  return { changed, unchanged: ids.filter((id) => !changedIds.has(id)), why };
}

export function* batches(ids: string[]): Generator<string[]> {
  for (let i = 0; i < ids.length; i += BATCH_SIZE) yield ids.slice(i, i + BATCH_SIZE);
}
