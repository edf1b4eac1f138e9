import { expect } from 'bun:test';
import type { Store } from '../../src/store/store.ts';
import { claim, claimOne, ending, failedWith, ids, jobSpec, NOW, startJob } from '../support/jobs.ts';
import type { Case } from './topic.ts';

const MINUTE_MS = 60_000;
const enableAging = (store: Store, queue = 'default') => store.setQueue(queue, { agingMs: MINUTE_MS });

/** Adds a high-priority job and claims one job every minute. Returns the claimed ids in order. */
async function claimEachMinute(store: Store, minutes: number): Promise<string[]> {
  const claimedIds: string[] = [];
  for (let i = 1; i <= minutes; i++) {
    await store.insert([jobSpec(`high${i}`, { priority: 10 })], NOW + i * MINUTE_MS);
    claimedIds.push((await claimOne(store, 'w1', NOW + i * MINUTE_MS)).id);
  }
  return claimedIds;
}

export const aging: Record<string, Case> = {
  'a low-priority job is claimed eventually, however many others are added': async ({ store }) => {
    await enableAging(store);
    await store.insert([jobSpec('low'), jobSpec('lower', { priority: -5 })], NOW);
    const claimedIds = await claimEachMinute(store, 30);
    // After ten minutes 'low' has the priority of a new job, and it is older.
    expect(claimedIds.indexOf('low')).toBe(9);
    expect(claimedIds.indexOf('high10')).toBe(10);
    expect(claimedIds.indexOf('lower')).toBeGreaterThan(13);
  },

  'a low-priority job is claimed last without aging, and after aging is removed': async ({ store }) => {
    await store.insert([jobSpec('low')], NOW);
    expect(await claimEachMinute(store, 20)).not.toContain('low');
    await enableAging(store);
    expect(await store.setQueue('default', { agingMs: null })).toMatchObject({ agingMs: null });
    await store.insert([jobSpec('last', { priority: 1 })], NOW + 60 * MINUTE_MS);
    expect((await claimOne(store, 'w1', NOW + 60 * MINUTE_MS)).id).toBe('last');
  },

  'a job gains one priority per whole interval and keeps it if the clock is set back': async ({ store }) => {
    await enableAging(store);
    await store.insert([jobSpec('low'), jobSpec('also', { priority: -100 })], NOW);
    await store.insert(
      ['a', 'b'].map((id) => jobSpec(id, { priority: 1 })),
      NOW + MINUTE_MS - 1,
    );
    expect((await claimOne(store, 'w1', NOW + MINUTE_MS - 1)).id).toBe('a');
    expect((await claimOne(store, 'w1', NOW - 60 * MINUTE_MS)).id).toBe('b');
    expect((await claimOne(store, 'w1', NOW - 600 * MINUTE_MS)).id).toBe('low');
  },

  'jobs of one priority are claimed in the order of enqueue, whenever they became due': async ({ store }) => {
    await enableAging(store);
    const first = jobSpec('first', { runAt: NOW + 50 * MINUTE_MS });
    await store.insert([first, jobSpec('second'), jobSpec('third')], NOW);
    await store.insert([jobSpec('high', { priority: 1 })], NOW + 50 * MINUTE_MS);
    expect(ids(await claim(store, { limit: 9 }, NOW + 50 * MINUTE_MS))).toEqual([
      'high',
      'first',
      'second',
      'third',
    ]);
  },

  'a job gains no priority before it is added or due, nor while it waits for a retry': async ({ store }) => {
    await enableAging(store);
    const job = await startJob(store, 'retried');
    await store.settle(ending(job, failedWith(1), NOW + 30 * MINUTE_MS));
    await store.insert([jobSpec('fresh', { priority: 5 })], NOW + 31 * MINUTE_MS);
    expect(ids(await claim(store, { limit: 9 }, NOW + 31 * MINUTE_MS))).toEqual(['fresh', 'retried']);
    await store.insert([jobSpec('backdated', { runAt: 0 }), jobSpec('new', { priority: 1 })], NOW);
    expect(ids(await claim(store, { limit: 9 }, NOW))).toEqual(['new', 'backdated']);
  },

  'the gained priority counts across queues, and queue limits still apply': async ({ store }) => {
    await enableAging(store, 'old');
    await store.setQueue('old', { concurrency: 2 });
    const old = [0, 1, 2].map((priority) => jobSpec(`old${priority}`, { queue: 'old', priority }));
    await store.insert([...old, jobSpec('plain', { priority: 3 })], NOW);
    expect(ids(await claim(store, { limit: 4 }, NOW + 3 * MINUTE_MS))).toEqual(['old2', 'old1', 'plain']);
  },

  'old jobs are claimed soon, however many priorities the queue has': async ({ store }) => {
    await enableAging(store);
    await store.insert([jobSpec('low', { priority: -9 }), jobSpec('middle', { priority: 150 })], NOW);
    const late = NOW + 1000 * MINUTE_MS;
    const crowd = Array.from({ length: 300 }, (_, i) => jobSpec(`job${i}`, { priority: i }));
    await store.insert(crowd, late);
    const claimedIds = [];
    for (let i = 0; i < 24; i++) claimedIds.push((await claimOne(store, 'w1', late)).id);
    expect(claimedIds).toContain('middle');
    expect(claimedIds).toContain('low');
  },
};
