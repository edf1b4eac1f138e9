import { expect } from 'bun:test';
import type { Store } from '../../src/store/store.ts';
import { claim, claimOne, ending, failedWith, ids, jobSpec, NOW, startJob } from '../support/jobs.ts';
import type { Case } from './topic.ts';

const MINUTE = 60_000;
const enableAging = (store: Store, queue = 'default') => store.setQueue(queue, { agingMs: MINUTE });

/** Adds a high-priority job and claims one job every minute. Returns the claimed ids in order. */
async function claimEachMinute(store: Store, minutes: number): Promise<string[]> {
  const seen: string[] = [];
  for (let i = 1; i <= minutes; i++) {
    await store.insert([jobSpec(`high${i}`, { priority: 10 })], NOW + i * MINUTE);
    seen.push((await claimOne(store, 'w1', NOW + i * MINUTE)).id);
  }
  return seen;
}

export const aging: Record<string, Case> = {
  'a low-priority job is claimed eventually, however many others are added': async ({ store }) => {
    await enableAging(store);
    await store.insert([jobSpec('low'), jobSpec('lower', { priority: -5 })], NOW);
    const seen = await claimEachMinute(store, 30);
    // After ten minutes 'low' has the priority of a new job, and it is older.
    expect(seen.indexOf('low')).toBe(9);
    expect(seen.indexOf('high10')).toBe(10);
    expect(seen.indexOf('lower')).toBeGreaterThan(13);
  },

  'a low-priority job is never claimed before the others without aging, nor after aging is removed': async ({
    store,
  }) => {
    await store.insert([jobSpec('low')], NOW);
    expect(await claimEachMinute(store, 20)).not.toContain('low');
    await enableAging(store);
    expect(await store.setQueue('default', { agingMs: null })).toMatchObject({ agingMs: null });
    await store.insert([jobSpec('last', { priority: 1 })], NOW + 60 * MINUTE);
    expect((await claimOne(store, 'w1', NOW + 60 * MINUTE)).id).toBe('last');
  },

  'a job gains one priority per whole interval, and a clock that is set back does not reduce it': async ({
    store,
  }) => {
    await enableAging(store);
    await store.insert([jobSpec('low'), jobSpec('also', { priority: -100 })], NOW);
    await store.insert(
      ['a', 'b'].map((id) => jobSpec(id, { priority: 1 })),
      NOW + MINUTE - 1,
    );
    expect((await claimOne(store, 'w1', NOW + MINUTE - 1)).id).toBe('a');
    expect((await claimOne(store, 'w1', NOW - 60 * MINUTE)).id).toBe('b');
    expect((await claimOne(store, 'w1', NOW - 600 * MINUTE)).id).toBe('low');
  },

  'within one priority jobs are claimed in the order of their enqueue, whenever they became due': async ({
    store,
  }) => {
    await enableAging(store);
    const first = jobSpec('first', { runAt: NOW + 50 * MINUTE });
    await store.insert([first, jobSpec('second'), jobSpec('third')], NOW);
    await store.insert([jobSpec('high', { priority: 1 })], NOW + 50 * MINUTE);
    expect(ids(await claim(store, { limit: 9 }, NOW + 50 * MINUTE))).toEqual([
      'high',
      'first',
      'second',
      'third',
    ]);
  },

  'a job gains priority only while it exists and is due, also before a retry': async ({ store }) => {
    await enableAging(store);
    const job = await startJob(store, 'retried');
    await store.settle(ending(job, failedWith(1), NOW + 30 * MINUTE));
    await store.insert([jobSpec('fresh', { priority: 5 })], NOW + 31 * MINUTE);
    expect(ids(await claim(store, { limit: 9 }, NOW + 31 * MINUTE))).toEqual(['fresh', 'retried']);
    await store.insert([jobSpec('backdated', { runAt: 0 }), jobSpec('new', { priority: 1 })], NOW);
    expect(ids(await claim(store, { limit: 9 }, NOW))).toEqual(['new', 'backdated']);
  },

  'the gained priority counts across queues, and queue limits still apply': async ({ store }) => {
    await enableAging(store, 'old');
    await store.setQueue('old', { concurrency: 2 });
    const old = [0, 1, 2].map((priority) => jobSpec(`old${priority}`, { queue: 'old', priority }));
    await store.insert([...old, jobSpec('plain', { priority: 3 })], NOW);
    expect(ids(await claim(store, { limit: 4 }, NOW + 3 * MINUTE))).toEqual(['old2', 'old1', 'plain']);
  },

  'old jobs are claimed soon, however many priorities the queue has': async ({ store }) => {
    await enableAging(store);
    await store.insert([jobSpec('low', { priority: -9 }), jobSpec('middle', { priority: 150 })], NOW);
    const late = NOW + 1000 * MINUTE;
    const crowd = Array.from({ length: 300 }, (_, i) => jobSpec(`job${i}`, { priority: i }));
    await store.insert(crowd, late);
    const seen = [];
    for (let i = 0; i < 24; i++) seen.push((await claimOne(store, 'w1', late)).id);
    expect(seen).toContain('middle');
    expect(seen).toContain('low');
  },
};
