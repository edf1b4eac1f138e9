import type { Job, State } from '../core/jobs/job.ts';
import { timingText } from '../core/schedules/cron-text.ts';
import { maskUrls } from '../core/text/mask.ts';
import { countOf } from '../core/text/words.ts';
import type { Worker } from '../store/contract/workers.ts';
import { peekStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

/** A completion of a command line, with a description. */
export interface Suggestion {
  value: string;
  help: string;
}

const MAX_JOBS = 100;

/** Suggests jobs whose id starts with `prefix` and that are in one of the states. An empty list means all states. */
export function suggestJobs(location: string, prefix: string, states: State[]): Promise<Suggestion[]> {
  return readFromStore(location, async (store) => {
    const jobs =
      prefix === ''
        ? await store.list({ states }, { limit: MAX_JOBS })
        : await jobsStartingWith(store, prefix);
    return jobs
      .filter((job) => states.length === 0 || states.includes(job.state))
      .map((job) => ({ value: job.id, help: `${job.state} ${maskUrls(job.command)}` }));
  });
}

/** Reads suggestions from a store without creating or changing it. Returns none if there is no store of this version. */
async function readFromStore(location: string, read: (store: Store) => Promise<Suggestion[]>) {
  const store = await peekStore(location);
  if (store === null) return [];
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

async function jobsStartingWith(store: Store, prefix: string): Promise<Job[]> {
  const ids = await store.idsStartingWith(prefix, MAX_JOBS);
  return (await Promise.all(ids.map((id) => store.get(id)))).filter((job) => job !== null);
}

/** Suggests all registered workers, for `worker stop`. */
export function suggestWorkers(location: string): Promise<Suggestion[]> {
  const toSuggestion = ({ id, pid, hostname }: Worker) => ({ value: id, help: `pid ${pid} on ${hostname}` });
  return readFromStore(location, async (store) => (await store.workers()).map(toSuggestion));
}

/** Suggests all schedules. `pausedFirst` puts paused schedules first, for `schedule resume`. */
export function suggestSchedules(location: string, pausedFirst: boolean): Promise<Suggestion[]> {
  return readFromStore(location, async (store) => {
    const schedules = await store.schedules();
    if (pausedFirst) schedules.sort((a, b) => Number(b.pausedAt !== null) - Number(a.pausedAt !== null));
    return schedules.map(({ name, pausedAt, timing, job }) => ({
      value: name,
      help: `${timingText(timing)}${pausedAt === null ? '' : ', paused'}: ${maskUrls(job.command ?? '')}`,
    }));
  });
}

/** Suggests all queues. `pausedFirst` puts paused queues first, for `queue resume`. */
export function suggestQueues(location: string, pausedFirst: boolean): Promise<Suggestion[]> {
  return readFromStore(location, async (store) => {
    const totals = new Map<string, number>();
    for (const { queue, jobs } of await store.counts()) totals.set(queue, (totals.get(queue) ?? 0) + jobs);
    const queues = await store.queues();
    if (pausedFirst) queues.sort((a, b) => Number(b.pausedAt !== null) - Number(a.pausedAt !== null));
    return queues.map(({ name, pausedAt }) => ({
      value: name,
      help: `${countOf(totals.get(name) ?? 0)}${pausedAt === null ? '' : ', paused'}`,
    }));
  });
}
