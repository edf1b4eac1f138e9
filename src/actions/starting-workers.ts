import { existsSync } from 'node:fs';
import { pause } from '../core/clock.ts';
import { QueueError } from '../core/errors.ts';
import { processes } from '../exec/processes.ts';
import { currentStopMark } from '../exec/stop-mark.ts';
import { isServerUrl } from '../store/location.ts';
import { peekStore } from '../store/open.ts';

/** A worker creates its store soon after its start. Older programs belong to other stores. */
const STARTING_MS = 10_000;
const MAX_WAIT_MS = 3000;
const POLL_MS = 20;

/**
 * Waits for the store of a worker that is just starting, so that a stop reaches that worker. Returns at once if there is a store,
 * or if no program is starting that could create one.
 */
export async function untilStoreOfStartingWorker(location: string): Promise<void> {
  if (await hasStore(location)) return;
  const starting = startingPrograms();
  const end = processes.clock() + MAX_WAIT_MS;
  while (!(await hasStore(location)) && processes.clock() < end) {
    const remaining = startingPrograms().filter((name) => starting.includes(name));
    if (remaining.length === 0) return;
    await pause(POLL_MS);
  }
}

async function hasStore(location: string): Promise<boolean> {
  if (!isServerUrl(location)) return existsSync(location);
  try {
    const store = await peekStore(location);
    await store?.close();
    return store !== null;
  } catch (error) {
    // The stop opens the store next, and waits for its server.
    if (error instanceof QueueError && error.code === 'store-unreachable') return true;
    throw error;
  }
}

/** Returns the names of young processes that run queuectl, or are about to, except this one and its ancestors. */
function startingPrograms(): string[] {
  const { programs, by } = currentStopMark();
  return [...(programs?.running ?? []), ...(programs?.forked ?? [])].filter((name) => {
    const age = processes.ageMs(Number(name.split(':')[0]));
    return !by.includes(name) && age !== null && age < STARTING_MS;
  });
}
