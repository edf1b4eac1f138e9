import { expect } from 'bun:test';
import { STOP_ORDERS } from '../../src/core/signals.ts';
import type { NewWorker, Worker } from '../../src/store/contract/workers.ts';
import {
  claimOne,
  ending,
  ids,
  jobSpec,
  LEASE_MS,
  NOW,
  newWorker,
  startJob,
  succeeded,
} from '../support/jobs.ts';
import { until } from '../support/queuectl.ts';
import { stopOrderOf } from './agenda.ts';
import type { Case } from './topic.ts';

const HOUR_MS = 3_600_000;
/** The clock of a server and the one of this process may differ by this much. */
const CLOCK_TOLERANCE_MS = 1000;

export const workers: Record<string, Case> = {
  'new attempts have higher numbers than the one given to register, even if no attempt in the store has it':
    async ({ store }) => {
      for (const [id, used] of [
        ['a', 70],
        ['b', 20],
      ] as const) {
        await store.insert([jobSpec(id)], NOW);
        await store.register(newWorker(`w-${id}`), used);
        const job = await claimOne(store);
        expect(job.claim.attempt).toBe(id === 'a' ? 71 : 72);
      }
    },
  'a registered worker is stored unchanged': async ({ store, another }) => {
    const ofAllQueues = newWorker('w1');
    const ofTwoQueues = newWorker('w2', {
      pid: 12,
      queues: ['mail', 'a,b'],
      concurrency: 4,
      startedAt: NOW + 1,
      hostname: 'ü',
    });
    await store.register(ofAllQueues);
    await store.register(ofTwoQueues);
    const stored = ({ leaseMs, ...worker }: NewWorker): Worker => ({
      ...{ ...worker, lastHeartbeat: worker.startedAt, beat: 0, hasLease: true, hasLeft: false },
      ...{ draining: false, order: null, currentJobs: [] },
      ...(store.manyHosts === true && { bootHasLease: true }),
    });
    expect(await (await another()).workers()).toEqual([ofAllQueues, ofTwoQueues].map(stored));
  },

  'registering the same worker or supervisor again changes nothing': async ({ store }) => {
    const supervisor = { ...newWorker('s1'), id: 's1' };
    for (const _ of ['the first time', 'after a lost answer']) {
      await store.registerSupervisor(supervisor);
      await store.register(newWorker('w1', { supervisor: 's1' }));
      await store.order(['s1'], 'drain');
    }
    expect(await store.workers()).toMatchObject([{ id: 'w1', beat: 0, order: 'drain' }]);
    expect(await store.supervisors()).toMatchObject([{ id: 's1', order: 'drain' }]);
    const events = await store.events(0, 10);
    expect(events.map(({ kind }) => kind)).toEqual(['worker-ready']);
  },

  'a heartbeat raises the counter, also when the clock steps back': async ({ store }) => {
    await store.register(newWorker('w1'));
    expect(await store.beat('w1', false, LEASE_MS, NOW + 5000)).toMatchObject({ order: null });
    expect(await store.workers()).toMatchObject([{ beat: 1, lastHeartbeat: NOW + 5000, draining: false }]);
    await store.beat('w1', true, LEASE_MS, NOW - 5000);
    expect(await store.workers()).toMatchObject([{ beat: 2, draining: true }]);
  },

  'a worker has a lease until its length has passed since the last heartbeat': async ({ store }) => {
    for (const id of ['w1', 'w2'])
      await store.register(newWorker(id, { startedAt: Date.now(), leaseMs: 60_000 }));
    const leases = async () => (await store.workers()).map((worker) => worker.hasLease);
    await store.beat('w1', false, 1, Date.now());
    await until(async () => !(await leases())[0], 'the lease is over');
    await store.beat('w2', false, HOUR_MS, Date.now());
    expect(await leases()).toEqual([false, true]);
  },

  'the lease of a host ends with the longest lease of its workers': async ({ store }) => {
    const leaseUntil = async () => (await store.hosts())[0]!.leaseUntil;
    const before = Date.now();
    for (const [id, leaseMs] of Object.entries({ w1: 60_000, w2: HOUR_MS }))
      await store.register(newWorker(id, { startedAt: Date.now(), leaseMs }));
    const first = await leaseUntil();
    expect(first).toBeGreaterThanOrEqual(before + HOUR_MS - CLOCK_TOLERANCE_MS);
    expect(first).toBeLessThanOrEqual(Date.now() + HOUR_MS + CLOCK_TOLERANCE_MS);
    await store.beat('w1', false, 1000, Date.now());
    expect(await leaseUntil()).toBe(first);
    await store.beat('w1', false, 2 * HOUR_MS, Date.now());
    expect(await leaseUntil()).toBeGreaterThan(first);
  },

  'with many hosts, a lease that is over cannot be renewed': async ({ store }) => {
    await store.register(newWorker('w1', { startedAt: Date.now(), leaseMs: 1 }));
    const hasLease = async () => (await store.workers())[0]!.hasLease;
    await until(async () => !(await hasLease()), 'the lease is over');
    const answer = await store.beat('w1', true, HOUR_MS, Date.now());
    const isRenewed = !store.manyHosts;
    expect(answer !== null).toBe(isRenewed);
    expect(await store.workers()).toMatchObject([
      { hasLease: isRenewed, beat: isRenewed ? 1 : 0, draining: isRenewed },
    ]);
  },

  'a heartbeat of one worker does not count for another': async ({ store }) => {
    await store.register(newWorker('w1'));
    await store.register(newWorker('w2'));
    await store.beat('w2', false, LEASE_MS, NOW + 1);
    expect((await store.workers()).map((worker) => worker.beat)).toEqual([0, 1]);
  },

  'the heartbeat of an unregistered worker returns null': async ({ store }) => {
    expect(await store.beat('w1', false, LEASE_MS, NOW)).toBeNull();
    await store.register(newWorker('w1'));
    expect(await store.unregister('w1')).toBe(true);
    expect(await store.beat('w1', false, LEASE_MS, NOW)).toBeNull();
    expect(await stopOrderOf(store, 'w1')).toBeNull();
    expect(await store.workers()).toEqual([]);
  },

  'unregistering is refused while the worker holds a job': async ({ store }) => {
    await store.register(newWorker('w1'));
    const job = await startJob(store, 'a');
    expect(await store.unregister('w1')).toBe(false);
    expect(ids(await store.workers())).toEqual(['w1']);
    await store.settle(ending(job, succeeded));
    expect(await store.unregister('w1')).toBe(true);
    expect(await store.workers()).toEqual([]);
  },

  'an adopted job belongs to its new worker and no longer to the old one': async ({ store }) => {
    await store.register(newWorker('w1'));
    await store.register(newWorker('w2'));
    const job = await startJob(store, 'a');
    await store.adopt(job.claim, 'w2');
    expect(await store.unregister('w2')).toBe(false);
    expect(await store.unregister('w1')).toBe(true);
  },

  'workers returns the jobs that each worker runs': async ({ store }) => {
    await store.register(newWorker('w1'));
    await store.register(newWorker('w2'));
    await store.insert([jobSpec('a'), jobSpec("b'"), jobSpec('c')], NOW);
    const a = await claimOne(store, 'w1');
    await claimOne(store, 'w1');
    await claimOne(store, 'w2');
    const current = async () => (await store.workers()).map((worker) => worker.currentJobs.toSorted());
    expect(await current()).toEqual([['a', "b'"], ['c']]);
    await store.settle(ending(a, succeeded));
    expect(await current()).toEqual([["b'"], ['c']]);
  },

  'beat and agenda return a stop order for the workers that it names': async ({ store, another }) => {
    for (const id of ['w1', 'w2', 'w3']) await store.register(newWorker(id));
    expect(await stopOrderOf(store, 'w1')).toBeNull();
    await (await another()).order(['w1', 'w3', 'nobody'], 'leave');
    expect(await stopOrderOf(store, 'w1')).toBe('leave');
    expect(await store.beat('w3', false, LEASE_MS, NOW)).toMatchObject({ order: 'leave' });
    expect(await store.beat('w2', false, LEASE_MS, NOW)).toMatchObject({ order: null });
    expect((await store.workers()).map((worker) => worker.order)).toEqual(['leave', null, 'leave']);
  },

  'a stop order to a supervisor also applies to workers that it registers later': async ({ store }) => {
    const { host, pid, startTime } = newWorker('w');
    await store.registerSupervisor({ id: 's', host, pid, startTime });
    await store.register(newWorker('before', { supervisor: 's' }));
    await store.order(['s'], 'drain');
    await store.register(newWorker('after', { supervisor: 's' }));
    await store.register(newWorker('other', { supervisor: 't' }));
    expect(await stopOrderOf(store, 'before')).toBe('drain');
    expect(await stopOrderOf(store, 'after')).toBe('drain');
    expect(await stopOrderOf(store, 'other')).toBeNull();
  },

  'a stop order to all reaches supervisors and workers, also later workers': async ({ store, another }) => {
    const { host, pid, startTime } = newWorker('w');
    await store.registerSupervisor({ id: 's', host, pid, startTime });
    await store.register(newWorker('mine', { supervisor: 's' }));
    await store.register(newWorker('free', { supervisor: 'library' }));
    await (await another()).order(null, 'leave');
    await store.order(null, 'drain');
    await store.register(newWorker('late', { supervisor: 's' }));
    for (const id of ['mine', 'free', 'late']) expect(await stopOrderOf(store, id)).toBe('leave');
    expect((await store.supervisors()).map((one) => one.order)).toEqual(['leave']);
  },

  'a stop order to all does not apply to a supervisor that registers later': async ({ store, another }) => {
    const { host, pid, startTime } = newWorker('w');
    await store.registerSupervisor({ id: 'a', host, pid, startTime });
    await store.order(['a'], 'drain');
    await store.order(null, 'force');
    await store.order(null, 'drain');
    await (await another()).registerSupervisor({ id: 'b', host, pid, startTime });
    await store.registerSupervisor({ id: 'a', host, pid, startTime });
    const orders = (await store.supervisors()).map((one) => [one.id, one.order]);
    expect(orders).toEqual([
      ['a', 'force'],
      ['b', null],
    ]);
  },

  'a worker hands its jobs over only to a registered worker that is not stopping': async ({ store }) => {
    for (const id of ['w1', 'drains', 'ordered', 'heir']) await store.register(newWorker(id));
    await store.beat('drains', true, LEASE_MS, NOW);
    await store.order(['ordered'], 'drain');
    const job = await startJob(store, 'a');
    for (const heirs of [[], ['w1'], ['nobody'], ['drains', 'ordered']])
      expect(await store.handOver('w1', heirs)).toBe(false);
    expect(ids(await store.workers())).toContain('w1');
    expect(await store.handOver('w1', ['drains', 'heir'])).toBe(true);
    expect(ids(await store.workers())).not.toContain('w1');
    expect(await store.runningJobs()).toMatchObject([{ id: 'a', workerId: 'w1', claim: job.claim }]);
    expect(await store.handOver('w1', ['heir'])).toBe(false);
  },

  'a stop order never replaces a stronger one': async ({ store }) => {
    for (const [i, first] of STOP_ORDERS.entries()) {
      for (const [j, second] of STOP_ORDERS.entries()) {
        const id = `${first}-${second}`;
        await store.register(newWorker(id));
        await store.order([id], first);
        await store.order([id], second);
        expect(await stopOrderOf(store, id)).toBe(STOP_ORDERS[Math.max(i, j)]!);
      }
    }
  },

  'a heartbeat does not clear a stop order': async ({ store }) => {
    await store.register(newWorker('w1'));
    await store.order(['w1'], 'force');
    expect(await store.beat('w1', true, LEASE_MS, NOW)).toMatchObject({ order: 'force' });
    expect(await store.beat('w1', true, LEASE_MS, NOW)).toMatchObject({ order: 'force' });
  },

  'a worker that registers again has no stop order': async ({ store }) => {
    await store.register(newWorker('w1'));
    await store.order(['w1'], 'force');
    await store.unregister('w1');
    await store.register(newWorker('w1'));
    expect(await stopOrderOf(store, 'w1')).toBeNull();
  },

  'workers outlive their connection': async ({ store, another, close }) => {
    await store.register(newWorker('w1'));
    await store.order(['w1'], 'drain');
    await close(store);
    expect(await (await another()).beat('w1', false, LEASE_MS, NOW)).toMatchObject({ order: 'drain' });
  },
};
