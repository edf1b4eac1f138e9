import type { State } from '../core/job.ts';
import type { JobChanges } from '../core/job-changes.ts';
import { checkAtMostOnce } from '../core/job-input.ts';
import { either } from '../core/words.ts';
import { placeOf, removePlace } from '../state/place.ts';
import { wake } from '../state/wake.ts';
import type { App } from './app.ts';
import { checkSecrets } from './enqueue.ts';

/** What an action on several jobs came to. */
export interface Acted {
  changed: string[];
  /** Left as they were, and why, in words: "had already finished". */
  unchanged: string[];
  why: string;
  /** Still being ended by whoever holds them. */
  ending?: string[];
  /** The unchanged at-most-once jobs that were started before: a bulk action does not start them again. */
  skipped?: string[];
  /** The retried at-most-once jobs that were started before. */
  startedAgain?: string[];
  /** Further jobs that were cancelled, because they depended on the changed ones. */
  alsoCancelled?: string[];
}

/** Describes skipped jobs; a number goes in front. */
export const SKIPPED = 'skipped (at-most-once jobs can only be retried by id)';

/** So many at a time, so that nobody waits long for the writer. */
const BATCH = 500;

export const RETRYABLE: readonly State[] = ['dead', 'cancelled', 'failed'];
const DELETABLE: readonly State[] = ['pending', 'failed', 'completed', 'dead', 'cancelled'];

export async function cancelJobs(app: App, ids: string[]): Promise<Acted> {
  const changed: string[] = [];
  const ending: string[] = [];
  const ended: string[] = [];
  const dependents = new Set<string>();
  for (const batch of batches(ids)) {
    const result = await app.store.cancel(batch, app.clock.now());
    changed.push(...result.cancelled);
    ending.push(...result.ending);
    ended.push(...result.ended);
    for (const id of result.dependents) dependents.add(id);
  }
  if (ending.length + changed.length > 0) wake(app.stateDirectory);
  // A job may have been cancelled with its parent in an earlier batch.
  const [cut, unchanged] = split(ended, (id) => dependents.delete(id));
  changed.push(...cut);
  return { changed, unchanged, why: 'had already finished', ending, alsoCancelled: [...dependents] };
}

export interface Retried extends Acted {
  /** Those of the unchanged whose unique key another job has. */
  keyless: string[];
  skipped: string[];
  startedAgain: string[];
}

/** How jobs are retried: from which states, and whether a filter chose them rather than their ids. */
interface RetryOptions {
  from?: readonly State[];
  bulk?: boolean;
}

export async function retryJobs(
  app: App,
  ids: string[],
  { from = RETRYABLE, bulk = false }: RetryOptions = {},
): Promise<Retried> {
  // Asked first: a worker may start a retried job at once.
  const once = bulk ? [] : await startedOnce(app, ids, from);
  const acted = await each(app, ids, `were not ${either(from)}`, (batch) =>
    app.store.retry(batch, from, app.clock.now(), bulk),
  );
  const startedAgain = once.filter((id) => acted.changed.includes(id));
  const skipped = bulk ? await startedOnce(app, acted.unchanged, from) : [];
  const keyless: string[] = [];
  let why = '';
  const others = new Set(acted.unchanged).difference(new Set(skipped));
  for (const id of others) {
    const holder = await app.store.keyHolder(id, from, app.clock.now());
    if (holder === null) continue;
    keyless.push(id);
    why ||= keyTaken(holder);
  }
  const retried = { ...acted, keyless, skipped, startedAgain };
  if (keyless.length === 0) return retried;
  return { ...retried, why: keyless.length < others.size ? `${acted.why}, or ${why}` : why };
}

/** Returns the at-most-once jobs of these states that were started before. */
async function startedOnce(app: App, ids: string[], from: readonly State[]): Promise<string[]> {
  const started: string[] = [];
  for (const id of ids) {
    const job = await app.store.get(id);
    if (job?.policy.atMostOnce && job.startedAt !== null && from.includes(job.state)) started.push(id);
  }
  return started;
}

export function keyTaken(holder: string): string {
  return `could not get the unique key back: job '${holder}' holds it`;
}

export async function holdJobs(app: App, ids: string[]): Promise<Acted> {
  const acted = await each(app, ids, 'were not waiting', (batch) => app.store.hold(batch, app.clock.now()));
  for (const id of acted.unchanged) if (!(await app.store.get(id))?.held) return acted;
  return { ...acted, why: 'were already held' };
}

export function releaseJobs(app: App, ids: string[]): Promise<Acted> {
  return each(app, ids, 'were not held', (batch) => app.store.release(batch, app.clock.now()));
}

/** An at-most-once job stays as it is when `maxRetries` above 1 is among the changes. */
export async function editJobs(app: App, ids: string[], changes: JobChanges): Promise<Acted> {
  const { env } = changes;
  if (env !== undefined)
    for (const id of ids) checkSecrets({ secretEnv: (await app.store.get(id))?.secretEnv ?? [], env });
  const acted = await each(app, ids, 'were not waiting', (batch) =>
    app.store.edit(batch, changes, app.clock.now()),
  );
  if ((changes.maxRetries ?? 0) <= 1) return acted;
  for (const id of acted.unchanged)
    if ((await app.store.get(id))?.policy.atMostOnce)
      return { ...acted, why: `${acted.why}, or allow only one attempt (at-most-once)` };
  return acted;
}

/** Changes one job. Refuses a second attempt of an at-most-once job with an error. */
export async function editJob(app: App, id: string, changes: JobChanges): Promise<Acted> {
  const policy = (await app.store.get(id))?.policy ?? {};
  if (changes.maxRetries !== undefined) checkAtMostOnce({ policy, maxRetries: changes.maxRetries });
  return editJobs(app, [id], changes);
}

/** Removes jobs for good, with their output. Running ones stay; waiting ones never run. */
export async function deleteJobs(
  app: App,
  ids: string[],
  from: readonly State[] = DELETABLE,
): Promise<Acted> {
  const dependents = new Set<string>();
  const acted = await each(app, ids, 'were running', async (batch) => {
    const removed = await app.store.remove(batch, from, app.clock.now());
    for (const id of removed.dependents) dependents.add(id);
    for (const attempt of removed.attempts)
      removePlace(placeOf(app.stateDirectory, app.store.epoch, attempt));
    return removed.ids;
  });
  return { ...acted, alsoCancelled: [...dependents.difference(new Set(acted.changed))] };
}

async function each(
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

function split<T>(items: T[], isFirst: (item: T) => boolean): [T[], T[]] {
  const parts: [T[], T[]] = [[], []];
  for (const item of items) parts[isFirst(item) ? 0 : 1].push(item);
  return parts;
}

function* batches(ids: string[]): Generator<string[]> {
  for (let i = 0; i < ids.length; i += BATCH) yield ids.slice(i, i + BATCH);
}
