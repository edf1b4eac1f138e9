import { expect } from 'bun:test';
import { claim, ending, failedWith, ids, jobSpec, NOW, succeeded } from '../support/jobs.ts';
import { nextDue } from './agenda.ts';
import type { Case } from './topic.ts';

const jobsOf = (queue: string, priority = 0) =>
  ['1', '2', '3'].map((n) => jobSpec(`${queue}${n}`, { queue, priority }));

const UNLIMITED = {
  ...{ pausedAt: null, pausedBy: null, concurrency: null, rate: null, tokens: null },
};

export const queues: Record<string, Case> = {
  'a queue is created by its first job or setting': async ({ store }) => {
    await store.insert([jobSpec('a', { queue: 'mail' })], NOW);
    await store.setQueue('api', { concurrency: 2 });
    expect(await store.queues()).toEqual([
      { name: 'api', ...UNLIMITED, concurrency: 2 },
      { name: 'mail', ...UNLIMITED },
    ]);
  },

  'only a queue without jobs is removed, and its events keep its name': async ({ store }) => {
    await store.insert([jobSpec('a', { queue: 'mail' })], NOW);
    await store.setQueue('mail', { concurrency: 2 });
    expect(await store.removeQueue('nobody')).toBe('absent');
    expect(await store.removeQueue('mail')).toBe('has-jobs');
    await store.remove(['a'], ['pending'], NOW);
    const before = await store.events(0, 99);
    expect(await store.removeQueue('mail')).toBe('removed');
    expect(await store.queues()).toEqual([]);
    // A queue that is created later inherits nothing, even if it gets the same number.
    await store.insert([jobSpec('b', { queue: 'other' })], NOW);
    expect(await store.counts()).toEqual([{ queue: 'other', state: 'pending', jobs: 1 }]);
    const after = await store.events(0, 99);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.slice(before.length)).toMatchObject([
      { kind: 'queue-deleted', queue: 'mail', detail: {} },
      { kind: 'enqueued', queue: 'other' },
    ]);
  },

  'jobs of a paused queue are not claimed and do not delay other queues': async ({ store }) => {
    await store.insert([...jobsOf('mail', 10), ...jobsOf('other')], NOW);
    await store.setQueue('mail', { paused: { at: NOW, by: 'me' } });
    expect(ids(await claim(store, { limit: 2 }))).toEqual(['other1', 'other2']);
    expect(await nextDue(store, ['mail'], NOW)).toBeNull();
    expect(await store.setQueue('mail', { paused: null })).toMatchObject({ pausedAt: null, pausedBy: null });
    expect(ids(await claim(store, { limit: 1 }))).toEqual(['mail1']);
  },

  'no more jobs of a queue run than its limit, whichever worker claims': async ({ store }) => {
    await store.insert([...jobsOf('mail', 10), ...jobsOf('other')], NOW);
    await store.setQueue('mail', { concurrency: 2 });
    const first = await claim(store, { limit: 3, workerId: 'w1' });
    expect(ids(first)).toEqual(['mail1', 'mail2', 'other1']);
    expect(ids(await claim(store, { limit: 1, workerId: 'w2' }))).toEqual(['other2']);
    expect(await nextDue(store, ['mail'], NOW)).toBeNull();
    await store.settle(ending(first[0]!, succeeded));
    expect(await nextDue(store, ['mail'], NOW)).toBe(0);
    expect(ids(await claim(store, { limit: 3, queues: ['mail'] }))).toEqual(['mail3']);
  },

  'a rate limit starts jobs one at a time, evenly spaced': async ({ store }) => {
    await store.insert(jobsOf('api'), NOW);
    await store.setQueue('api', { rate: { jobs: 2, perMs: 1000 } });
    expect(ids(await claim(store, { limit: 5 }))).toEqual(['api1']);
    expect(ids(await claim(store, { limit: 5 }))).toEqual([]);
    expect(await nextDue(store, null, NOW)).toBe(NOW + 500);
    expect(ids(await claim(store, { limit: 5 }, NOW + 499))).toEqual([]);
    expect(ids(await claim(store, { limit: 5 }, NOW + 500))).toEqual(['api2']);
    // Unused capacity is not saved up: after a minute without a start, still only one job starts.
    expect(ids(await claim(store, { limit: 5 }, NOW + 60_000))).toEqual(['api3']);
  },

  'a high rate limit starts a few jobs together': async ({ store }) => {
    await store.insert(jobsOf('api'), NOW);
    await store.setQueue('api', { rate: { jobs: 20, perMs: 1000 } });
    expect(await claim(store, { limit: 5 })).toHaveLength(2);
  },

  'workers whose clocks differ a little do not exceed a rate limit together': async ({ store }) => {
    await store.insert(jobsOf('api'), NOW);
    await store.setQueue('api', { rate: { jobs: 1, perMs: 1000 } });
    expect(ids(await claim(store, { limit: 5 }, NOW + 20))).toEqual(['api1']);
    expect(ids(await claim(store, { limit: 5 }, NOW))).toEqual([]);
    expect(ids(await claim(store, { limit: 5 }, NOW + 1000))).toEqual([]);
    expect(ids(await claim(store, { limit: 5 }, NOW + 1020))).toEqual(['api2']);
  },
  'a clock that is set back does not block a rate-limited queue': async ({ store }) => {
    await store.insert(jobsOf('api'), NOW);
    await store.setQueue('api', { rate: { jobs: 1, perMs: 1000 } });
    expect(ids(await claim(store, { limit: 5 }))).toEqual(['api1']);
    expect(ids(await claim(store, { limit: 5 }, NOW - 3_600_000))).toEqual(['api2']);
    expect(ids(await claim(store, { limit: 5 }, NOW - 3_600_000 + 999))).toEqual([]);
    expect(ids(await claim(store, { limit: 5 }, NOW - 3_600_000 + 1000))).toEqual(['api3']);
  },

  'busyQueues returns queues with jobs that are ready or wait for a retry, but ignores held and delayed jobs':
    async ({ store }) => {
      await store.insert([jobSpec('later', { queue: 'later', runAt: NOW + 1000 }), ...jobsOf('rate')], NOW);
      await store.setQueue('rate', { rate: { jobs: 1, perMs: 1000 } });
      expect(await store.busyQueues(NOW)).toEqual(['rate']);
      for (const job of await claim(store, { limit: 5 })) await store.settle(ending(job, failedWith(1)));
      await store.cancel(['rate2', 'rate3'], NOW);
      expect(await store.busyQueues(NOW)).toEqual(['rate']);
      await store.hold(['rate1'], NOW);
      expect(await store.busyQueues(NOW)).toEqual([]);
      await store.release(['rate1'], NOW);
      await store.setQueue('rate', { paused: { at: NOW, by: 'me' } });
      expect(await store.busyQueues(NOW)).toEqual([]);
      expect(await store.busyQueues(NOW + 1000)).toEqual(['later']);
      expect(await store.busyQueues(NOW + 1000, ['rate', 'later', 'none'])).toEqual(['later']);
      expect(await store.busyQueues(NOW + 1000, ['rate'])).toEqual([]);
    },

  'no more jobs run in total than max-concurrent-jobs allows': async ({ store }) => {
    await store.insert([...jobsOf('a'), ...jobsOf('b')], NOW);
    await store.set('max-concurrent-jobs', '2', () => {});
    expect(await claim(store, { limit: 5 })).toHaveLength(2);
    expect(await claim(store, { limit: 5, workerId: 'w2' })).toEqual([]);
    await store.set('max-concurrent-jobs', '3', () => {});
    expect(await claim(store, { limit: 5, workerId: 'w2' })).toHaveLength(1);
  },
};
