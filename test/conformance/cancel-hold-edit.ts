import { expect } from 'bun:test';
import { claim, ending, failedWith, ids, jobSpec, NOW, startJob, succeeded } from '../support/jobs.ts';
import { wishes } from './agenda.ts';
import type { Case } from './topic.ts';

export const cancelHoldEdit: Record<string, Case> = {
  'a cancelled waiting job never runs': async ({ store }) => {
    await store.insert([jobSpec('now'), jobSpec('later', { runAt: NOW + 1000 })], NOW);
    const result = await store.cancel(['now', 'later'], NOW + 5);
    expect(result).toEqual({ cancelled: ['now', 'later'], ending: [], ended: [], dependents: [] });
    expect(await store.get('now')).toMatchObject({ state: 'cancelled', finishedAt: NOW + 5, dueAt: null });
    expect(await claim(store, { limit: 5 }, NOW + 5000)).toEqual([]);
  },

  'a job that is added held runs only after its release, when it is due and its parent has ended': async ({
    store,
  }) => {
    const held = [
      jobSpec('now', { hold: true }),
      jobSpec('later', { hold: true, runAt: NOW + 1000 }),
      jobSpec('child', { hold: true, dependsOn: [{ id: 'now', on: 'ok' }] }),
    ];
    const added = await store.insert(held, NOW);
    expect(added.map((job) => [job.id, job.state, job.held])).toEqual(
      ['now', 'later', 'child'].map((id) => [id, 'pending', true]),
    );
    for (const { id } of held) expect((await store.get(id))?.held).toBe(true);
    expect(await claim(store, { limit: 5 }, NOW + 5000)).toEqual([]);
    expect(await store.release(['later', 'child'], NOW)).toEqual(['later', 'child']);
    expect(await claim(store, { limit: 5 }, NOW + 500)).toEqual([]);
    expect(ids(await claim(store, { limit: 5 }, NOW + 5000))).toEqual(['later']);
    await store.release(['now'], NOW + 5000);
    const [now] = await claim(store, { limit: 5 }, NOW + 5000);
    await store.settle(ending(now!, succeeded));
    expect(ids(await claim(store, { limit: 5 }, NOW + 6000))).toEqual(['child']);
  },

  'a running job keeps the reason of its cancel, whatever reason is stored later': async ({ store }) => {
    const job = await startJob(store, 'a');
    expect(await store.cancel(['a'], NOW)).toEqual({
      cancelled: [],
      ending: ['a'],
      ended: [],
      dependents: [],
    });
    const wish = { claim: job.claim, end: 'cancelled' as const, signal: null };
    expect(await wishes(store, 'w1')).toEqual([wish]);
    expect(await wishes(store, 'w2')).toEqual([]);
    expect(await store.setEndReason(job.claim, 'timeout')).toBe(true);
    expect(await store.wishes('w1')).toEqual([wish]);
  },

  'a running job that is cancelled ends as cancelled if it would run again otherwise': async ({ store }) => {
    for (const [id, outcome] of [
      ['failing', failedWith(1)],
      ['timed', { why: 'timeout' }],
      ['stopped', { why: 'stopped' }],
      ['lost', { why: 'lost' }],
      ['gated', { why: 'never-started' }],
    ] as const) {
      const job = await startJob(store, id);
      if (outcome.why === 'timeout' || outcome.why === 'stopped')
        await store.setEndReason(job.claim, outcome.why);
      await store.cancel([id], NOW);
      expect(await store.settle(ending(job, outcome))).toBe('applied');
      expect({ id, state: (await store.get(id))?.state }).toEqual({ id, state: 'cancelled' });
    }
    expect(await claim(store, { limit: 9 }, NOW + 3_600_000)).toEqual([]);
  },

  'a job that completes or dies after a cancel request is completed or dead': async ({ store }) => {
    const done = await startJob(store, 'done');
    await store.cancel(['done'], NOW);
    await store.settle(ending(done, succeeded));
    expect((await store.get('done'))?.state).toBe('completed');
    const dead = await startJob(store, 'dead', { maxRetries: 1 });
    await store.cancel(['dead'], NOW);
    await store.settle(ending(dead, failedWith(1)));
    expect((await store.get('dead'))?.state).toBe('dead');
  },

  'a held job that is retried stays held': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.settle(ending(job, failedWith(1)));
    await store.hold(['a'], NOW);
    expect(await store.retry(['a'], ['failed'], NOW)).toEqual(['a']);
    expect(await store.get('a')).toMatchObject({ state: 'pending', held: true, attempts: 0 });
  },

  'cancel leaves an ended job unchanged': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.settle(ending(job, succeeded));
    expect(await store.cancel(['a', 'unknown'], NOW)).toEqual({
      cancelled: [],
      ending: [],
      ended: ['a'],
      dependents: [],
    });
    expect(await store.get('a')).toMatchObject({ state: 'completed' });
  },

  'a held job waits until it is released, even if it is due': async ({ store }) => {
    await store.insert([jobSpec('a'), jobSpec('b'), jobSpec('later', { runAt: NOW + 1000 })], NOW);
    expect(await store.hold(['a', 'later'], NOW)).toEqual(['a', 'later']);
    expect(await store.get('a')).toMatchObject({ state: 'pending', held: true });
    expect(ids(await claim(store, { limit: 5 }, NOW + 5000))).toEqual(['b']);
    expect(await store.hold(['a', 'b'], NOW)).toEqual([]);
    expect(await store.release(['a', 'b', 'later'], NOW + 10)).toEqual(['a', 'later']);
    expect(ids(await claim(store, { limit: 5 }, NOW + 10))).toEqual(['a']);
    expect(ids(await claim(store, { limit: 5 }, NOW + 1000))).toEqual(['later']);
  },

  'a job that waits for a retry stays failed while held, and runs after its release': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.settle(ending(job, failedWith(1)));
    expect(await store.hold(['a'], NOW)).toEqual(['a']);
    expect(await store.get('a')).toMatchObject({ state: 'failed', held: true });
    expect(await store.release(['a'], NOW + 60_000)).toEqual(['a']);
    expect(ids(await claim(store, { limit: 1 }, NOW + 60_000))).toEqual(['a']);
  },

  'an at-most-once job that is cancelled during a stop ends as cancelled': async ({ store }) => {
    const job = await startJob(store, 'a', { policy: { atMostOnce: true } });
    await store.setEndReason(job.claim, 'stopped');
    await store.cancel(['a'], NOW);
    await store.settle(ending(job, { why: 'stopped' }));
    expect((await store.get('a'))?.state).toBe('cancelled');
  },

  'edit gives an at-most-once job no second attempt': async ({ store }) => {
    const atMostOnce = { policy: { atMostOnce: true }, maxRetries: 1 };
    await store.insert([jobSpec('once', atMostOnce), jobSpec('plain')], NOW);
    const both = ['once', 'plain'];
    expect(await store.edit(both, { maxRetries: 2, priority: 5 }, NOW)).toEqual(['plain']);
    expect(await store.get('once')).toMatchObject({ maxRetries: 1, priority: 0 });
    expect(await store.edit(both, { maxRetries: 1 }, NOW)).toEqual(both);
    expect(await store.edit(both, { priority: 5 }, NOW)).toEqual(both);
  },

  'edit changes only the given fields, and only of waiting jobs': async ({ store }) => {
    await startJob(store, 'busy');
    await store.insert([jobSpec('a', { tags: { k: 'v' }, timeoutMs: 1000 })], NOW);
    const changes = { priority: 7, queue: 'other', command: 'echo new', maxRetries: 9, name: 'n' };
    expect(await store.edit(['a', 'busy'], changes, NOW + 1)).toEqual(['a']);
    expect(await store.get('a')).toMatchObject({
      ...changes,
      tags: { k: 'v' },
      timeoutMs: 1000,
      updatedAt: NOW + 1,
    });
    expect(await store.edit(['a'], { timeoutMs: null, tags: {}, name: null }, NOW)).toEqual(['a']);
    expect(await store.get('a')).toMatchObject({ timeoutMs: null, tags: {}, name: null, priority: 7 });
    expect(await store.counts()).toContainEqual({ queue: 'other', state: 'pending', jobs: 1 });
  },

  'a changed time moves a job between ready and waiting, and a held job stays held': async ({ store }) => {
    await store.insert([jobSpec('a'), jobSpec('held')], NOW);
    await store.hold(['held'], NOW);
    await store.edit(['a', 'held'], { runAt: NOW + 5000 }, NOW);
    expect(await claim(store, { limit: 5 }, NOW)).toEqual([]);
    await store.edit(['a', 'held'], { runAt: NOW - 1 }, NOW);
    expect(ids(await claim(store, { limit: 5 }, NOW))).toEqual(['a']);
  },
};
