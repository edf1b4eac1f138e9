import { countOf, verbFor } from '../core/words.ts';
import { wake } from '../state/wake.ts';
import type { App } from './app.ts';

/** The result of an action on several jobs. */
export interface Acted {
  changed: string[];
  /** The ids of the jobs left as they were, and the reason in words, such as "had already finished". */
  unchanged: string[];
  why: string;
  /** The ids of the running jobs that were asked to end and are still being stopped. */
  ending?: string[];
  /** The ids of unchanged at-most-once jobs that were started before. A bulk action does not start them again. */
  skipped?: string[];
  /** The ids of retried at-most-once jobs that were started before. */
  retriedAtMostOnce?: string[];
  /** Further jobs that were cancelled, because they depended on the changed ones. */
  alsoCancelled?: string[];
}

export function describeSkipped(count: number): string {
  return `${countOf(count)} ${verbFor(count, 'were')} skipped, because at-most-once jobs can only be retried by id`;
}

/** One transaction changes at most this many jobs, so that other writers do not wait long. */
const BATCH = 500;

/** Acts on jobs batch by batch and wakes the workers. `act` returns the ids it changed. `why` tells why others stay unchanged. */
export async function actOnJobs(
  app: App,
  ids: string[],
  why: string,
  act: (batch: string[]) => Promise<string[]>,
): Promise<Acted> {
  const changed: string[] = [];
  for (const batch of batches(ids)) changed.push(...(await act(batch)));
  if (changed.length > 0) wake(app.stateDirectory);
  const done = new Set(changed);
  return { changed, unchanged: ids.filter((id) => !done.has(id)), why };
}

export function* batches(ids: string[]): Generator<string[]> {
  for (let i = 0; i < ids.length; i += BATCH) yield ids.slice(i, i + BATCH);
}
