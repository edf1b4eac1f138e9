import { expect } from 'bun:test';
import type { ClaimedJob } from '../../src/core/jobs/job.ts';
import type { Store } from '../../src/store/store.ts';
import {
  claim,
  claimOne,
  ending,
  failedWith,
  ids,
  jobSpec,
  NOW,
  startJob,
  succeeded,
} from '../support/jobs.ts';
import type { Case } from './topic.ts';

const output = { output: { bytes: 4, truncated: false, kept: Buffer.from('oops') } };

async function addDead(store: Store, id: string): Promise<ClaimedJob> {
  const job = await startJob(store, id, { maxRetries: 1 });
  await store.settle(ending(job, failedWith(1), NOW + 1000, output));
  return job;
}

export const retryAndRemove: Record<string, Case> = {
  'a retried job is pending and due now, and its counts are reset': async ({ store }) => {
    await addDead(store, 'a');
    expect(await store.retry(['a'], ['dead'], NOW + 5000)).toEqual(['a']);
    expect(await store.get('a')).toMatchObject({
      state: 'pending',
      attempts: 0,
      crashes: 0,
      dueAt: NOW + 5000,
    });
    expect(await store.get('a')).toMatchObject({
      finishedAt: null,
      exitCode: null,
      lastError: null,
      updatedAt: NOW + 5000,
    });
    expect(ids(await claim(store, {}, NOW + 5000))).toEqual(['a']);
  },

  'a retried job keeps its id, its settings and its history': async ({ store }) => {
    const spec = jobSpec('a', {
      maxRetries: 1,
      queue: 'mail',
      priority: 5,
      tags: { a: 'b' },
      env: { C: 'd' },
      timeoutMs: 9,
    });
    await store.insert([spec], NOW);
    const first = await claimOne(store);
    await store.settle(ending(first, failedWith(1), NOW + 1000, output));
    const history = await store.attempts('a');
    await store.retry(['a'], ['dead'], NOW + 5000);
    expect(await store.get('a')).toMatchObject({ ...spec, createdAt: NOW });
    expect(await store.attempts('a')).toEqual(history);
    expect(Buffer.from((await store.output(first.claim.attempt))!).toString()).toBe('oops');
    const again = await claimOne(store, 'w1', NOW + 5000);
    expect(again.ordinal).toBe(2);
    await store.settle(ending(again, succeeded, NOW + 6000));
    expect(await store.get('a')).toMatchObject({ state: 'completed', attempts: 1 });
    expect((await store.attempts('a')).map((one) => one.ordinal)).toEqual([1, 2]);
  },

  'a retry also resets the number of crashes': async ({ store }) => {
    await store.insert([jobSpec('a')], NOW);
    for (let i = 0; i < 5; i++) await store.settle(ending(await claimOne(store), { why: 'lost' }));
    expect((await store.get('a'))?.state).toBe('dead');
    await store.retry(['a'], ['dead'], NOW);
    await store.settle(ending(await claimOne(store), { why: 'lost' }));
    expect(await store.get('a')).toMatchObject({ state: 'pending', crashes: 1 });
  },

  'only jobs of the given states are retried': async ({ store }) => {
    await addDead(store, 'dead');
    await store.settle(ending(await startJob(store, 'completed'), succeeded));
    await store.settle(ending(await startJob(store, 'failed'), failedWith(1), NOW + 1e6));
    await startJob(store, 'processing');
    const all = ['dead', 'completed', 'failed', 'processing', 'nobody'];
    const before = await Promise.all(all.slice(1).map((id) => store.get(id)));
    expect(await store.retry(all, ['dead'], NOW)).toEqual(['dead']);
    expect(await Promise.all(all.slice(1).map((id) => store.get(id)))).toEqual(before);
    expect(await store.retry(all, ['failed'], NOW)).toEqual(['failed']);
    expect(await store.retry(all, [], NOW)).toEqual([]);
    expect(await store.retry([], ['dead'], NOW)).toEqual([]);
  },

  'a failed job is retried at once instead of later': async ({ store }) => {
    await store.settle(ending(await startJob(store, 'a'), failedWith(1), NOW + 1e6));
    expect(await claim(store)).toEqual([]);
    await store.retry(['a'], ['failed'], NOW + 1);
    expect(ids(await claim(store, {}, NOW + 1))).toEqual(['a']);
  },

  'a bulk retry omits at-most-once jobs that were started': async ({ store }) => {
    const policy = { atMostOnce: true };
    await store.insert([jobSpec('never', { policy, maxRetries: 1 })], NOW);
    await store.cancel(['never'], NOW);
    await addDead(store, 'plain');
    for (const [id, outcome] of [
      ['failed', failedWith(1)],
      ['stopped', { why: 'stopped' }],
      ['lost', { why: 'lost' }],
    ] as const) {
      await store.settle(ending(await startJob(store, id, { policy }), outcome));
      expect((await store.get(id))?.state).toBe('dead');
    }
    const all = ['failed', 'stopped', 'lost', 'never', 'plain'];
    expect(await store.retry(all, ['dead', 'cancelled'], NOW, true)).toEqual(['never', 'plain']);
    expect(await store.retry(all, ['dead', 'cancelled'], NOW)).toEqual(['failed', 'stopped', 'lost']);
  },

  'a bulk retry includes an at-most-once job whose command never started': async ({ store }) => {
    const job = await startJob(store, 'a', { policy: { atMostOnce: true } });
    await store.settle(ending(job, { why: 'never-started' }));
    await store.cancel(['a'], NOW + 2000);
    expect(await store.retry(['a'], ['cancelled'], NOW + 3000, true)).toEqual(['a']);
  },

  'an old claim cannot settle a retried job': async ({ store }) => {
    const old = await addDead(store, 'a');
    await store.retry(['a'], ['dead'], NOW + 5000);
    expect(await store.settle(ending(old, succeeded))).not.toBe('applied');
    expect((await store.get('a'))?.state).toBe('pending');
    await claimOne(store, 'w1', NOW + 5000);
    expect(await store.settle(ending(old, succeeded))).not.toBe('applied');
    expect((await store.get('a'))?.state).toBe('processing');
  },

  'a removed job is gone with its attempts and their output': async ({ store, another, close }) => {
    const job = await addDead(store, 'a');
    expect(await store.remove(['a'], ['dead'], NOW)).toEqual({
      ids: ['a'],
      attempts: [job.claim.attempt],
      dependents: [],
    });
    await close(store);
    const next = await another();
    expect(await next.get('a')).toBeNull();
    expect(await next.attempts('a')).toEqual([]);
    expect(await next.output(job.claim.attempt)).toBeNull();
    expect(await next.counts()).toEqual([]);
  },

  'remove returns every attempt of every job it removed': async ({ store }) => {
    const a = await addDead(store, 'a');
    await store.retry(['a'], ['dead'], NOW);
    const again = await claimOne(store);
    await store.settle(ending(again, failedWith(1)));
    const b = await addDead(store, 'b');
    const removed = await store.remove(['b', 'nobody', 'a'], ['dead'], NOW);
    expect(removed.ids.toSorted()).toEqual(['a', 'b']);
    const numbers = [a, again, b].map((job) => job.claim.attempt);
    expect(removed.attempts.toSorted((x, y) => x - y)).toEqual(numbers);
  },

  'only jobs of the given states are removed': async ({ store }) => {
    await addDead(store, 'dead');
    await store.settle(ending(await startJob(store, 'completed'), succeeded));
    await store.insert([jobSpec('pending')], NOW);
    expect(await store.remove(['dead', 'completed', 'pending'], ['dead'], NOW)).toMatchObject({
      ids: ['dead'],
    });
    expect(ids(await store.list({}, { limit: 9 }))).toEqual(['pending', 'completed']);
    expect(await store.attempts('completed')).toHaveLength(1);
    expect(await store.remove(['completed'], [], NOW)).toEqual({ ids: [], attempts: [], dependents: [] });
  },

  'waiting jobs can be removed and then never run': async ({ store }) => {
    await store.settle(ending(await startJob(store, 'failed'), failedWith(1), NOW));
    await store.insert([jobSpec('ready'), jobSpec('later', { runAt: NOW + 1 })], NOW);
    const removed = await store.remove(['ready', 'later', 'failed'], ['pending', 'failed'], NOW);
    expect(removed.ids).toEqual(['ready', 'later', 'failed']);
    expect(await claim(store, { limit: 9 }, NOW + 1e6)).toEqual([]);
  },

  'a removed id can be enqueued again, without the old history': async ({ store }) => {
    const old = await addDead(store, 'a');
    await store.remove(['a'], ['dead'], NOW);
    const again = await startJob(store, 'a');
    expect(again.ordinal).toBe(1);
    expect(again.claim.job).toBeGreaterThan(old.claim.job);
    expect(again.claim.attempt).toBeGreaterThan(old.claim.attempt);
    expect(await store.attempts('a')).toHaveLength(1);
    expect(await store.settle(ending(old, succeeded))).toBe('lost');
    expect((await store.get('a'))?.state).toBe('processing');
  },
};
