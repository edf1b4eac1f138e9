import { expect } from 'bun:test';
import { claim, claimRequest, ids, jobSpec, NOW, newWorker } from '../support/jobs.ts';
import type { Case } from './topic.ts';

const GPU = { offers: ['host:a', 'gpu'] };
const OTHER = { offers: ['host:b'] };

export const runsOn: Record<string, Case> = {
  'a job that asks for a label or a host is taken only by a worker that offers it': async ({ store }) => {
    await store.insert(
      [
        jobSpec('on-gpu', { runsOn: 'gpu', priority: 5 }),
        jobSpec('on-b', { runsOn: 'host:b' }),
        jobSpec('on-nobody', { runsOn: 'tpu', priority: 9 }),
        jobSpec('on-any'),
        jobSpec('on-a', { runsOn: 'host:a', priority: 7 }),
      ],
      NOW,
    );
    // They keep the order of their priorities.
    expect(ids(await claim(store, { limit: 9, ...GPU }))).toEqual(['on-a', 'on-gpu', 'on-any']);
    expect(ids(await claim(store, { limit: 9 }))).toEqual([]);
    expect(ids(await claim(store, { limit: 9, ...OTHER }))).toEqual(['on-b']);
    expect(await store.get('on-nobody')).toMatchObject({ runsOn: 'tpu', state: 'pending' });
  },

  'a released, retried or delayed job still asks for its label': async ({ store }) => {
    await store.insert([jobSpec('a', { runsOn: 'gpu', runAt: NOW + 1000 })], NOW);
    const later = NOW + 1000;
    expect(await claim(store, OTHER, later)).toEqual([]);
    // The worker that could not take the job has made it ready.
    expect((await store.agenda('w1', null, later, OTHER.offers)).nextDue).toBeNull();
    expect((await store.agenda('w1', null, later, GPU.offers)).nextDue).toBeLessThanOrEqual(later);
    const [job] = await claim(store, GPU, later);
    expect(job).toMatchObject({ id: 'a', runsOn: 'gpu' });
    await store.cancel(['a'], later);
  },

  'a worker takes a job that it has just made ready itself': async ({ store }) => {
    await store.insert([jobSpec('a', { runsOn: 'gpu', runAt: NOW + 1000 })], NOW);
    expect(ids(await claim(store, GPU, NOW + 1000))).toEqual(['a']);
  },

  'jobs with and without a label share the limit of their queue': async ({ store }) => {
    await store.setQueue('narrow', { concurrency: 2 });
    const specs = ['gpu', null, 'gpu', null].map((label, i) =>
      jobSpec(`j${i}`, { queue: 'narrow', runsOn: label }),
    );
    await store.insert([...specs, jobSpec('wide', { runsOn: 'gpu' })], NOW);
    expect(ids(await claim(store, { limit: 9, ...GPU }))).toEqual(['j0', 'j1', 'wide']);
    expect(await claim(store, { limit: 9, ...GPU })).toEqual([]);
  },

  'jobs with and without a label share the rate of their queue': async ({ store }) => {
    await store.setQueue('slow', { rate: { jobs: 20, perMs: 1000 } });
    const specs = ['gpu', null, 'gpu'].map((label, i) => jobSpec(`j${i}`, { queue: 'slow', runsOn: label }));
    await store.insert(specs, NOW);
    expect(ids(await claim(store, { limit: 9, ...GPU }))).toEqual(['j0', 'j1']);
    expect(await claim(store, { limit: 9, ...GPU })).toEqual([]);
    expect(ids(await claim(store, { limit: 9, ...GPU }, NOW + 1000))).toEqual(['j2']);
  },

  'in a queue with priority aging, old jobs with a label come first, too': async ({ store }) => {
    await store.setQueue('default', { agingMs: 1000 });
    await store.insert([jobSpec('old', { runsOn: 'gpu', priority: 0 })], NOW);
    await store.insert(
      [jobSpec('new', { runsOn: 'gpu', priority: 3 }), jobSpec('plain', { priority: 4 })],
      NOW + 9000,
    );
    expect(ids(await claim(store, { limit: 2, ...GPU }, NOW + 9000))).toEqual(['old', 'plain']);
    expect(ids(await claim(store, { limit: 2, ...GPU }, NOW + 9000))).toEqual(['new']);
  },

  'paused queues and queues that a worker does not serve give no job with a label': async ({ store }) => {
    await store.insert(
      [jobSpec('a', { queue: 'x', runsOn: 'gpu' }), jobSpec('b', { queue: 'y', runsOn: 'gpu' })],
      NOW,
    );
    await store.setQueue('x', { paused: { at: NOW, by: 'me' } });
    expect((await store.agenda('w1', ['x'], NOW, GPU.offers)).nextDue).toBeNull();
    expect(ids(await claim(store, { limit: 9, queues: ['x'], ...GPU }))).toEqual([]);
    expect(ids(await claim(store, { limit: 9, ...GPU }))).toEqual(['b']);
  },

  'busyQueues counts ready jobs that ask for an offer, or for anything': async ({ store }) => {
    await store.insert([jobSpec('a', { queue: 'x', runsOn: 'gpu' })], NOW);
    expect(await store.busyQueues(NOW)).toEqual(['x']);
    expect(await store.busyQueues(NOW, ['x'])).toEqual(['x']);
    expect(await store.busyQueues(NOW, ['y'])).toEqual([]);
    expect(await store.busyQueues(NOW, null, GPU.offers)).toEqual(['x']);
    expect(await store.busyQueues(NOW, null, OTHER.offers)).toEqual([]);
    await store.setQueue('x', { paused: { at: NOW, by: 'me' } });
    expect(await store.busyQueues(NOW)).toEqual([]);
  },

  'placedCounts counts the ready jobs by queue and label, and oldestWaiting includes them': async ({
    store,
  }) => {
    expect(await store.placedCounts()).toEqual([]);
    await store.insert(
      [
        ...['a', 'b'].map((id) => jobSpec(id, { queue: 'x', runsOn: 'gpu' })),
        jobSpec('c', { queue: 'y', runsOn: 'gpu' }),
        jobSpec('later', { queue: 'y', runsOn: 'gpu', runAt: NOW + 1 }),
        jobSpec('plain', { queue: 'y' }),
      ],
      NOW,
    );
    expect((await store.placedCounts()).sort((a, b) => b.jobs - a.jobs)).toEqual([
      { queue: 'x', runsOn: 'gpu', jobs: 2 },
      { queue: 'y', runsOn: 'gpu', jobs: 1 },
    ]);
    expect(await store.oldestWaiting(NOW + 5)).toContainEqual({ queue: 'x', since: NOW });
  },

  'an edit changes for what a job asks': async ({ store }) => {
    await store.insert([jobSpec('a', { runsOn: 'gpu' }), jobSpec('b')], NOW);
    await store.edit(['a'], { runsOn: null }, NOW);
    await store.edit(['b'], { runsOn: 'gpu' }, NOW);
    expect(ids(await claim(store, { limit: 9 }))).toEqual(['a']);
    expect(ids(await claim(store, { limit: 9, ...GPU }))).toEqual(['b']);
  },

  'jobs for which no worker has the label are selected separately': async ({ store }) => {
    await store.insert(
      [
        jobSpec('gpu', { queue: 'x', runsOn: 'gpu' }),
        jobSpec('tpu', { queue: 'x', runsOn: 'tpu' }),
        jobSpec('plain', { queue: 'x' }),
        jobSpec('other', { queue: 'y', runsOn: 'tpu' }),
      ],
      NOW,
    );
    const none = { now: NOW, held: false, blocked: false, scheduled: false, retrying: false };
    const unmatched = [{ queue: 'x', runsOn: 'tpu' }];
    const find = async (due: string[], noMatch: boolean): Promise<string[]> => {
      const filter = { waiting: { ...none, due, unmatched, noMatch } };
      const found = ids(await store.list(filter, { limit: 9 }));
      expect(await store.count(filter, 9)).toBe(found.length);
      return found.reverse();
    };
    expect(await find([], true)).toEqual(['tpu']);
    expect(await find(['x'], false)).toEqual(['gpu', 'plain']);
    expect(await find(['x', 'y'], true)).toEqual(['gpu', 'tpu', 'plain', 'other']);
  },

  'a worker is registered with its labels, and its host is known': async ({ store }) => {
    const host = { ...newWorker('w1').host, id: 'other' };
    await store.register(newWorker('w1', { labels: ['gpu', 'big'], hostname: 'alpha', host }));
    await store.register(newWorker('w2'));
    const workers = await store.workers();
    expect(workers.find(({ id }) => id === 'w1')).toMatchObject({ labels: ['gpu', 'big'], hasLeft: false });
    expect(workers.find(({ id }) => id === 'w2')).toMatchObject({ labels: [] });
    expect(await store.hosts()).toContainEqual({
      id: 'other',
      boot: host.boot,
      name: 'alpha',
      hasLease: true,
      leaseUntil: expect.any(Number),
    });
  },

  'jobs with a label are claimed ahead like others': async ({ store }) => {
    await store.insert(
      Array.from({ length: 6 }, (_, i) => jobSpec(`j${i}`, { runsOn: i % 2 === 0 ? 'gpu' : null })),
      NOW,
    );
    await claim(store, { limit: 0 });
    const { jobs } = await store.claim(claimRequest({ limit: 1, ahead: 3, ...GPU }), NOW);
    expect(ids(jobs)).toEqual(['j0', 'j1', 'j2', 'j3']);
  },
};
