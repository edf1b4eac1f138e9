import { expect } from 'bun:test';
import { claim, claimOne, ending, failedWith, jobSpec, NOW, startJob, succeeded } from '../support/jobs.ts';
import { nextDue } from './agenda.ts';
import type { Case } from './topic.ts';

export const due: Record<string, Case> = {
  'nextDue returns null when no job waits': async ({ store }) => {
    expect(await nextDue(store, null, NOW)).toBeNull();
    const job = await startJob(store, 'a');
    expect(await nextDue(store, null, NOW)).toBeNull();
    await store.settle(ending(job, succeeded));
    expect(await nextDue(store, null, NOW)).toBeNull();
  },

  'nextDue returns the earliest due time of jobs that are delayed or wait for a retry': async ({ store }) => {
    await store.insert(
      [jobSpec('late', { runAt: NOW + 90_000 }), jobSpec('early', { runAt: NOW + 60_000 })],
      NOW,
    );
    expect(await nextDue(store, null, NOW)).toBe(NOW + 60_000);
    const job = await startJob(store, 'fails');
    await store.settle(ending(job, failedWith(1), NOW + 1000));
    expect((await store.get('fails'))?.dueAt).toBe(NOW + 3000);
    expect(await nextDue(store, null, NOW)).toBe(NOW + 3000);
  },

  'nextDue returns a time that is not in the future when a job is ready': async ({ store }) => {
    await store.insert([jobSpec('later', { runAt: NOW + 60_000 }), jobSpec('ready')], NOW);
    expect(await nextDue(store, null, NOW)).toBeLessThanOrEqual(NOW);
    await claimOne(store);
    expect(await nextDue(store, null, NOW)).toBe(NOW + 60_000);
  },

  'nextDue treats a job that was requeued by a stop as ready': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.settle(ending(job, { why: 'stopped' }, NOW + 500));
    expect(await nextDue(store, null, NOW)).toBeLessThanOrEqual(NOW + 500);
    expect(await claim(store, {}, NOW + 500)).toHaveLength(1);
  },

  'nextDue ignores ready jobs of other queues': async ({ store }) => {
    await store.insert([jobSpec('a', { queue: 'x' }), jobSpec('b', { queue: 'y', runAt: NOW + 5000 })], NOW);
    expect(await nextDue(store, ['y'], NOW)).toBe(NOW + 5000);
    expect(await nextDue(store, ['x', 'y'], NOW)).toBeLessThanOrEqual(NOW);
    expect(await nextDue(store, ['x'], NOW)).toBeLessThanOrEqual(NOW);
  },

  'nextDue ignores delayed jobs of other queues': async ({ store }) => {
    await store.insert(
      [jobSpec('a', { queue: 'x', runAt: NOW + 1000 }), jobSpec('b', { queue: 'y', runAt: NOW + 5000 })],
      NOW,
    );
    expect(await nextDue(store, ['y'], NOW)).toBe(NOW + 5000);
    expect(await nextDue(store, ['nobody'], NOW)).toBeNull();
  },
};
