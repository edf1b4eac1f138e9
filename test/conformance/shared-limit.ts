import { expect } from 'bun:test';
import type { ClaimedJob } from '../../src/core/jobs/job.ts';
import type { NewWorker } from '../../src/store/contract/workers.ts';
import type { Store } from '../../src/store/store.ts';
import {
  claim,
  claimRequest,
  ending,
  failedWith,
  ids,
  jobSpec,
  NOW,
  newWorker,
  succeeded,
} from '../support/jobs.ts';
import type { Case } from './topic.ts';

const LOW = { workerId: 'low', queues: ['low'] };
const URGENT = { workerId: 'urgent', queues: ['urgent'] };

/** Sets max-concurrent-jobs to 1 and starts a job of the queue `low`, behind which another one waits. */
async function fillRoom(
  store: Store,
  { most = 1, worker = {} as Partial<NewWorker> } = {},
): Promise<ClaimedJob> {
  await store.set('max-concurrent-jobs', String(most), () => {});
  await store.register(newWorker('low', { queues: ['low'], concurrency: 5 }));
  await store.register(newWorker('urgent', { queues: ['urgent'], concurrency: 2, ...worker }));
  await store.insert(
    ['low-1', 'low-2', 'low-3'].map((id) => jobSpec(id, { queue: 'low' })),
    NOW,
  );
  const [first] = await claim(store, LOW);
  return first!;
}

const urgent = (id = 'urgent-1', priority = 5) => jobSpec(id, { queue: 'urgent', priority });
/** Settles a job and claims the next ones, in one step. */
const settleAndClaim = async (store: Store, job: ClaimedJob, fields = {}) => {
  const settlements = [ending(job, succeeded)];
  const { jobs, leftRoomFor = null } = await store.claim(
    claimRequest({ ...LOW, limit: 3, settlements, ...fields }),
    NOW + 1000,
  );
  const left =
    leftRoomFor === null
      ? null
      : (await store.list({}, { limit: 9 })).find((one) => one.number === leftRoomFor.number)!.id;
  return { jobs: ids(jobs), left };
};

/** Changes after which nothing is left to the queue `urgent`. */
const NOTHING_LEFT: Record<string, (store: Store) => Promise<unknown>> = {
  'the other worker is draining': (store) => store.beat('urgent', true, 60_000, NOW),
  'the other worker was ordered to stop': (store) => store.order(['urgent'], 'drain'),
  'the other worker has left': (store) => store.unregister('urgent'),
  'the lease of the other worker is over': (store) => store.beat('urgent', false, -120_000, NOW),
  'the other queue is paused': (store) => store.setQueue('urgent', { paused: { at: NOW, by: 'me' } }),
  'the other job is held': (store) => store.hold(['urgent-1'], NOW),
  'the other job is less urgent': (store) => store.edit(['urgent-1'], { priority: -1 }, NOW),
  'no worker serves the other queue': (store) => store.edit(['urgent-1'], { queue: 'unserved' }, NOW),
};

export const sharedLimit: Record<string, Case> = {
  'a worker that settles leaves the room to a more urgent job of another worker': async ({ store }) => {
    const first = await fillRoom(store);
    await store.insert([urgent()], NOW);
    expect(await settleAndClaim(store, first)).toEqual({ jobs: [], left: 'urgent-1' });
    const [job] = await claim(store, URGENT);
    expect(job!.id).toBe('urgent-1');
    expect(await claim(store, LOW)).toEqual([]);
    await store.settle(ending(job!, succeeded));
    expect(ids(await claim(store, LOW))).toEqual(['low-2']);
  },

  'of jobs with the same priority, the one that was enqueued first gets the room': async ({ store }) => {
    const first = await fillRoom(store);
    await store.insert([urgent('urgent-1', 0)], NOW);
    expect(await settleAndClaim(store, first)).toEqual({ jobs: ['low-2'], left: null });
    await store.insert([jobSpec('low-4', { queue: 'low' })], NOW);
    await store.cancel(['low-3'], NOW);
    const [second] = await store.runningJobs();
    expect(await settleAndClaim(store, second!)).toEqual({ jobs: [], left: 'urgent-1' });
  },

  'it takes the room that more urgent jobs do not need': async ({ store }) => {
    const first = await fillRoom(store, { most: 4 });
    await store.insert(
      [1, 2, 3].map((i) => urgent(`urgent-${i}`)),
      NOW,
    );
    // The other worker has two slots.
    expect(await settleAndClaim(store, first)).toEqual({ jobs: ['low-2', 'low-3'], left: null });
    expect(ids(await claim(store, { ...URGENT, limit: 5 }))).toEqual(['urgent-1', 'urgent-2']);
  },

  'it takes the room if the other worker has no free slot': async ({ store }) => {
    const first = await fillRoom(store, { most: 2, worker: { concurrency: 1 } });
    await store.insert([urgent(), urgent('urgent-2')], NOW);
    expect(ids(await claim(store, URGENT))).toEqual(['urgent-1']);
    expect(await settleAndClaim(store, first)).toEqual({ jobs: ['low-2'], left: null });
  },

  'it leaves room to a retry that has just become due, and to any queue of a worker of all queues': async ({
    store,
  }) => {
    const first = await fillRoom(store, { most: 2, worker: { queues: null } });
    await store.insert([urgent()], NOW);
    const [job] = await claim(store, { workerId: 'urgent' });
    await store.settle(ending(job!, failedWith(1), NOW));
    await store.set('max-concurrent-jobs', '1', () => {});
    expect(await settleAndClaim(store, first)).toEqual({ jobs: ['low-2'], left: null });
    const [low] = await store.runningJobs();
    const settlements = [ending(low!, succeeded)];
    const later = await store.claim(claimRequest({ ...LOW, settlements }), NOW + 60_000);
    expect(ids(later.jobs)).toEqual([]);
  },

  'it takes the room if it was told to, and names the job nevertheless': async ({ store }) => {
    const first = await fillRoom(store);
    await store.insert([urgent()], NOW);
    expect(await settleAndClaim(store, first, { leavesRoom: false })).toEqual({
      jobs: ['low-2'],
      left: 'urgent-1',
    });
  },

  'it takes the room if nobody can use it for a more urgent job': async ({ store }) => {
    let running = await fillRoom(store);
    await store.insert([urgent()], NOW);
    for (const [why, change] of Object.entries(NOTHING_LEFT)) {
      await change(store);
      expect([why, await settleAndClaim(store, running)]).toMatchObject([why, { left: null }]);
      await store.insert([jobSpec(why, { queue: 'low' })], NOW);
      [running] = (await store.runningJobs()) as [ClaimedJob];
      await store.unregister('urgent');
      await store.register(newWorker('urgent', { queues: ['urgent'], concurrency: 2 }));
      await store.setQueue('urgent', { paused: null });
      await store.edit(['urgent-1'], { priority: 5, queue: 'urgent' }, NOW);
      await store.release(['urgent-1'], NOW);
    }
    expect(await settleAndClaim(store, running)).toEqual({ jobs: [], left: 'urgent-1' });
  },
};
