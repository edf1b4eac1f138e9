import { QueueError } from '../core/errors.ts';
import { toIso } from '../core/time.ts';
import { countOf } from '../core/words.ts';
import type { Store } from '../store/store.ts';
import type { App } from './app.ts';
import { countJobs } from './jobs.ts';

/** Is stored in a copy together with its rows. It proves that the copy is complete. */
interface CopyMark {
  /** The epoch of the source. */
  epoch: string;
  /** The number of the last event of the source. */
  event: number;
  /** When the source was read. */
  at: number;
}

export const markOf = async (source: Store, at: number): Promise<string> =>
  JSON.stringify({ epoch: source.epoch, event: await source.lastEventNumber(), at } satisfies CopyMark);

/**
 * Returns true if the target is a complete copy of the source as it is now, and false if the target is empty. Throws if the target
 * has anything else in it. `name` names it in errors.
 */
export async function isComplete(source: Store, app: App, name: string): Promise<boolean> {
  const target = app.store;
  if (target.epoch === source.epoch)
    throw new QueueError('wrong-state', `${name} is the queue itself`, 'choose another target');
  const found = await contentsOf(app);
  if (found === null) return false;
  // The mark is read last, because it is stored together with the contents.
  const mark = JSON.parse((await target.loadMark()) ?? 'null') as CopyMark | null;
  if (mark?.epoch === source.epoch) {
    if (mark.event === (await source.lastEventNumber())) return true;
    throw new QueueError(
      'wrong-state',
      `${name} is a complete copy of this queue from ${toIso(mark.at)}, and the queue has changed since then`,
      'use the copy as it is, or copy the queue to another place',
    );
  }
  throw new QueueError(
    'wrong-state',
    `${name} already has ${found}`,
    'use a new file, or another schema in the URL (?schema=NAME). To add the jobs to that queue: queuectl export and queuectl import',
  );
}

/** Returns a name for what a store has in it, or null if it is empty. */
async function contentsOf(app: App): Promise<string | null> {
  const { store } = app;
  const jobs = await countJobs(app, {});
  if (jobs > 0) return countOf(jobs);
  if ((await store.schedules()).length > 0) return 'schedules';
  if ((await store.settings()).size > 0) return 'settings';
  if ((await store.queues()).length > 0) return 'queues';
  // Their numbers would not stay the same.
  return (await store.lastEventNumber()) > 0 ? 'events' : null;
}
