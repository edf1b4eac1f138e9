import { expect } from 'bun:test';
import type { StoreFilter } from '../../src/core/jobs/filter.ts';
import { type ClaimedJob, STATES, type State } from '../../src/core/jobs/job.ts';
import type { Store } from '../../src/store/store.ts';
import { claimOne, ending, failedWith, ids, jobSpec, NOW, startJob, succeeded } from '../support/jobs.ts';
import type { Case } from './topic.ts';

/** Adds one job in each state to each of two queues. Returns their ids, such as `x-dead`, oldest first. */
async function addEveryState(store: Store): Promise<string[]> {
  const addedIds: string[] = [];
  for (const queue of ['x', 'y']) {
    for (const state of ['completed', 'failed', 'dead', 'cancelled', 'processing', 'pending'] as const) {
      await addInState(store, `${queue}-${state}`, queue, state);
      addedIds.push(`${queue}-${state}`);
    }
  }
  return addedIds;
}

async function addInState(store: Store, id: string, queue: string, state: State): Promise<void> {
  // The pending job is due later, so that it is never claimed.
  if (state === 'pending') return void (await store.insert([jobSpec(id, { queue, runAt: NOW + 1e9 })], NOW));
  const job = await startJob(store, id, { queue, maxRetries: state === 'dead' ? 1 : 3 });
  if (state === 'completed') await store.settle(ending(job, succeeded));
  if (state === 'failed' || state === 'dead') await store.settle(ending(job, failedWith(1), NOW + 1e6));
  if (state === 'cancelled') await store.settle(ending(job, { why: 'cancelled' }));
}

async function readPages(
  store: Store,
  filter: StoreFilter,
  limit: number,
  betweenPages?: () => Promise<void>,
): Promise<string[]> {
  const seen: string[] = [];
  let page = await store.list(filter, { limit });
  while (page.length > 0) {
    expect(page.length).toBeLessThanOrEqual(limit);
    seen.push(...ids(page));
    await betweenPages?.();
    page = await store.list(filter, { limit, before: page.at(-1)!.number });
  }
  return seen;
}

export const lists: Record<string, Case> = {
  'jobs are listed newest first, with a number that rises with every enqueue': async ({ store }) => {
    await store.insert([jobSpec('b'), jobSpec('a')], NOW);
    // The order is that of the enqueues, not of a clock that stepped back.
    await store.insert([jobSpec('c')], NOW - 1000);
    const found = await store.list({}, { limit: 10 });
    expect(ids(found)).toEqual(['c', 'a', 'b']);
    const numbers = found.map((job) => job.number);
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
    const { number, ...plain } = found[0]!;
    expect(plain).toEqual((await store.get('c'))!);
    expect(number).toBeGreaterThan(numbers[1]!);
  },

  'filters by state and queue find their jobs and no others': async ({ store }) => {
    const all = (await addEveryState(store)).toReversed();
    expect(ids(await store.list({}, { limit: 99 }))).toEqual(all);
    expect(ids(await store.list({ states: [] }, { limit: 99 }))).toEqual(all);
    expect(ids(await store.list({ states: STATES }, { limit: 99 }))).toEqual(all);
    for (const state of STATES) {
      expect(ids(await store.list({ states: [state] }, { limit: 99 }))).toEqual([`y-${state}`, `x-${state}`]);
      expect(ids(await store.list({ states: [state], queue: 'x' }, { limit: 99 }))).toEqual([`x-${state}`]);
    }
    expect(ids(await store.list({ queue: 'y' }, { limit: 99 }))).toEqual(
      all.filter((id) => id.startsWith('y')),
    );
    expect(await store.list({ queue: 'nobody' }, { limit: 99 })).toEqual([]);
  },

  'a list of several states is newest first and contains each job once': async ({ store }) => {
    await addEveryState(store);
    const wanted: State[] = ['dead', 'completed', 'dead'];
    const expected = ['y-dead', 'y-completed', 'x-dead', 'x-completed'];
    expect(ids(await store.list({ states: wanted }, { limit: 99 }))).toEqual(expected);
    expect(ids(await store.list({ states: wanted }, { limit: 3 }))).toEqual(expected.slice(0, 3));
    expect(await readPages(store, { states: wanted }, 1)).toEqual(expected);
  },

  'pages have no gaps and no repeats while jobs are added': async ({ store }) => {
    const old = Array.from({ length: 25 }, (_, i) => `old-${String(i).padStart(2, '0')}`);
    await store.insert(
      old.map((id, i) => jobSpec(id, { queue: `q${i % 2}` })),
      NOW,
    );
    let added = 0;
    const addMore = async (): Promise<void> => {
      await store.insert(
        [jobSpec(`new-${added++}`, { queue: 'q0' }), jobSpec(`new-${added++}`, { queue: 'q1' })],
        NOW,
      );
    };
    for (const filter of [{}, { states: ['pending'] }, { states: ['pending', 'dead'] }] as const) {
      const seen = await readPages(store, filter, 4, addMore);
      expect(seen.filter((id) => id.startsWith('old'))).toEqual(old.toReversed());
      expect(new Set(seen).size).toBe(seen.length);
    }
    const seen = await readPages(store, { queue: 'q1', states: ['pending'] }, 3, addMore);
    expect(seen.filter((id) => id.startsWith('old'))).toEqual(old.filter((_, i) => i % 2 === 1).toReversed());
  },

  'count returns how many jobs a filter finds, up to the limit': async ({ store }) => {
    await addEveryState(store);
    await store.insert([jobSpec('named', { queue: 'x', name: 'n', runAt: NOW + 1e9 })], NOW);
    const filters: StoreFilter[] = [
      {},
      { name: 'n' },
      { queue: 'x' },
      { queue: 'nobody' },
      { states: ['dead', 'pending'] },
    ];
    for (const filter of [...filters, { queue: 'x', states: ['pending'] as State[], name: 'n' }]) {
      const found = (await store.list(filter, { limit: 99 })).length;
      expect(await store.count(filter, 99)).toBe(found);
      expect(await store.count(filter, 2)).toBe(Math.min(2, found));
    }
  },

  'counts returns the number of jobs of each queue and state': async ({ store }) => {
    expect(await store.counts()).toEqual([]);
    await addEveryState(store);
    await store.insert([jobSpec('more', { queue: 'y', runAt: NOW + 1e9 })], NOW);
    const counts = new Map(
      (await store.counts()).map(({ queue, state, jobs }) => [`${queue}-${state}`, jobs]),
    );
    for (const state of STATES) {
      expect(counts.get(`x-${state}`)).toBe(1);
      expect(counts.get(`y-${state}`)).toBe(state === 'pending' ? 2 : 1);
    }
    expect(counts.size).toBe(12);
  },

  'finishedAttempts returns the newest attempts that have ended, up to the limit': async ({ store }) => {
    await store.insert([jobSpec('a'), jobSpec('b', { runAt: NOW + 500 }), jobSpec('c')], NOW);
    const a = await claimOne(store, 'w1', NOW + 100);
    const c = await claimOne(store, 'w1', NOW + 200);
    const b = await claimOne(store, 'w1', NOW + 800);
    await store.settle(ending(a, succeeded, NOW + 1100));
    await store.settle(ending(b, failedWith(1), NOW + 1300));
    const both = [
      { waitMs: 300, runMs: 500, finishedAt: NOW + 1300, ok: false },
      { waitMs: 100, runMs: 1000, finishedAt: NOW + 1100, ok: true },
    ];
    expect(await store.finishedAttempts(10)).toEqual(both);
    expect(await store.finishedAttempts(1)).toEqual(both.slice(0, 1));
    await store.settle(ending(c, succeeded, NOW + 1400));
    expect(await store.finishedAttempts(10)).toHaveLength(3);
  },

  'lastEnded returns the jobs that ended in a state, the latest first': async ({ store }) => {
    const jobs = [];
    for (const id of ['first', 'second', 'third', 'good'])
      jobs.push(await startJob(store, id, { maxRetries: 1 }));
    const [first, second, third, good] = jobs as [ClaimedJob, ClaimedJob, ClaimedJob, ClaimedJob];
    // The jobs end in another order than they were enqueued in.
    await store.settle(ending(second, failedWith(1), NOW + 10));
    await store.settle(ending(third, failedWith(1), NOW + 20));
    await store.settle(ending(first, failedWith(1), NOW + 30));
    await store.settle(ending(good, succeeded, NOW + 40));
    expect(ids(await store.lastEnded('dead', 10))).toEqual(['first', 'third', 'second']);
    expect(await store.lastEnded('dead', 1)).toEqual([(await store.get('first'))!]);
    expect(ids(await store.lastEnded('completed', 10))).toEqual(['good']);
    expect(await store.lastEnded('cancelled', 10)).toEqual([]);
  },

  'check finds no problem in a new store': async ({ store }) => {
    await store.check();
  },
};
