import { expect } from 'bun:test';
import { ending, jobSpec, NOW, newWorker, startJob } from '../support/jobs.ts';
import type { Case } from './topic.ts';

/** Cases for `renew`, which turns the copy of a store into a separate store. */
export const renew: Record<string, Case> = {
  async 'renew sets a new epoch and keeps the old one as the origin'({ store, another }) {
    const before = store.epoch;
    expect(store.origin).toBe(null);
    await store.renew((job) => ending(job, { why: 'lost' }));
    expect(store.epoch).not.toBe(before);
    expect(await another()).toMatchObject({ epoch: store.epoch, origin: before });
  },

  async 'renew removes all workers and settles the running jobs'({ store }) {
    await store.register(newWorker('w1'));
    await store.registerSupervisor({ ...newWorker('s1') });
    const job = await startJob(store, 'job');
    await store.insert([jobSpec('waiting')], NOW);
    await store.renew((one) => ending(one, { why: 'lost' }));
    expect(await store.workers()).toEqual([]);
    expect(await store.supervisors()).toEqual([]);
    expect(await store.runningJobs()).toEqual([]);
    expect(await store.get('job')).toMatchObject({ state: 'pending', attempts: 0, crashes: 1 });
    expect(await store.attempts('job')).toMatchObject([{ why: 'lost' }]);
    expect(await store.settle(ending(job, { why: 'exited', code: 0 }))).toBe('lost');
  },
};
