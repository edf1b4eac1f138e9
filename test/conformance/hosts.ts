import { expect } from 'bun:test';
import type { ClaimedJob } from '../../src/core/job.ts';
import type { Store } from '../../src/store/store.ts';
import { claim, ending, jobSpec, NOW, newWorker, startJob, succeeded } from '../support/jobs.ts';
import { until } from '../support/queuectl.ts';
import type { Case } from './topic.ts';

const FAR = { hostname: 'far', host: { id: 'other', boot: 'boot', pidNamespace: 'pid:[1]' } };

/** Registers `far-1` and `far-2` as workers of another host. Job `a` is claimed by the first of them. */
async function startOnOtherHost(far: Store, leaseMs = 3_600_000): Promise<ClaimedJob> {
  for (const id of ['far-1', 'far-2']) await far.register(newWorker(id, { ...FAR, leaseMs }));
  await far.insert([jobSpec('a')], NOW);
  const [job] = await claim(far, { workerId: 'far-1' });
  return job!;
}

/** A lease that is over soon. A claim before its end may need this long on a busy machine. */
const SHORT_LEASE_MS = 5000;

/** Waits until a worker can adopt a job. */
const untilAdopted = (store: Store, { claim: held }: ClaimedJob, workerId: string): Promise<ClaimedJob> =>
  until(() => store.adopt(held, workerId), `${workerId} has adopted the job`);

/** Waits until the lease of a worker is over. */
async function endLease(store: Store, id: string): Promise<void> {
  await store.beat(id, false, 1, NOW);
  const isOver = async () => (await store.workers()).some((worker) => worker.id === id && !worker.hasLease);
  await until(isOver, `the lease of ${id} is over`);
}

export const hosts: Record<string, Case> = {
  'a running job and its attempts name their host, except on that host': async ({ store, another }) => {
    const far = await another(undefined, 'other');
    const job = await startOnOtherHost(far);
    expect(job.otherHost).toBeNull();
    const seenFrom = async (one: Store) => [
      ...(await one.runningJobs()).map((running) => running.otherHost),
      ...(await one.attempts('a')).map((attempt) => attempt.otherHost),
    ];
    expect(await seenFrom(far)).toEqual([null, null]);
    expect(await seenFrom(store)).toEqual(['far', 'far']);
    await far.settle(ending(job, succeeded));
    for (const id of ['far-1', 'far-2']) await far.unregister(id);
    expect(await seenFrom(store)).toEqual(['far']);
    expect(await seenFrom(far)).toEqual([null]);
  },

  'an attempt of another host is adopted only when the lease of that host is over': async ({
    store,
    another,
  }) => {
    const far = await another(undefined, 'other');
    const job = await startOnOtherHost(far, SHORT_LEASE_MS);
    await store.register(newWorker('w1'));
    expect(await store.adopt(job.claim, 'w1')).toBeNull();
    const adopted = await untilAdopted(store, job, 'w1');
    expect((await store.workers()).filter((one) => one.hostname === 'far' && one.hasLease)).toEqual([]);
    expect(adopted).toMatchObject({ id: 'a', workerId: 'w1', otherHost: 'far' });
    expect(await far.settle(ending(job, succeeded))).toBe('lost');
    expect(await store.settle(ending(adopted, { why: 'lost' }))).toBe('applied');
    expect(await store.attempts('a')).toMatchObject([{ why: 'lost', workerId: 'w1', otherHost: 'far' }]);
  },

  'the lease of a host outlives shorter leases and unregistered workers': async ({ store, another }) => {
    const job = await startOnOtherHost(await another(undefined, 'other'));
    await store.register(newWorker('w1'));
    await endLease(store, 'far-1');
    expect(await store.unregister('far-2')).toBe(true);
    expect(await store.handOver('far-1', ['far-1'])).toBe(false);
    expect(await store.handOver('far-1', ['w1'])).toBe(true);
    expect(await store.adopt(job.claim, 'w1')).toBeNull();
  },

  'with many hosts, a worker whose lease is over adopts nothing': async ({ store, another }) => {
    const far = await another(undefined, 'other');
    const job = await startOnOtherHost(far);
    await endLease(far, 'far-2');
    expect((await far.adopt(job.claim, 'far-2')) === null).toBe(store.manyHosts === true);
    expect(await far.adopt(job.claim, 'a-command')).toMatchObject({ workerId: 'a-command', otherHost: null });
  },

  'a host adopts its own attempts, also while their worker has a lease': async ({ another }) => {
    const far = await another(undefined, 'other');
    const job = await startOnOtherHost(far);
    expect(await far.adopt(job.claim, 'far-2')).toMatchObject({ workerId: 'far-2', otherHost: null });
  },

  'the next attempt belongs to the host of its worker': async ({ store, another }) => {
    const far = await another(undefined, 'other');
    await far.settle(ending(await startOnOtherHost(far), { why: 'lost' }));
    const [again] = await claim(store, {}, NOW + 60_000);
    expect(again).toMatchObject({ id: 'a', otherHost: null });
    expect((await store.attempts('a')).map((attempt) => attempt.otherHost)).toEqual(['far', null]);
    expect((await far.attempts('a')).map((attempt) => attempt.otherHost)).toEqual([null, 'machine']);
  },

  'a wish reaches the worker on another host': async ({ store, another }) => {
    const far = await another(undefined, 'other');
    const job = await startOnOtherHost(far);
    expect(await store.wishSignal(['a'], 'SIGINT')).toEqual(['a']);
    expect(await far.wishes('far-1')).toEqual([{ claim: job.claim, end: null, signal: 'SIGINT' }]);
    await store.cancel(['a'], NOW, 'SIGKILL');
    expect(await far.wishes('far-1')).toEqual([{ claim: job.claim, end: 'cancelled', signal: 'SIGKILL' }]);
  },

  'a host has its own seal': async ({ store, another }) => {
    const far = await another(undefined, 'other');
    await far.storeSeal('far');
    expect(await store.seal()).toBeNull();
    const { attempt } = (await startJob(store, 'a')).claim;
    await store.storeSeal('near');
    expect(await store.seal()).toEqual({ value: 'near', after: attempt });
    expect(await far.seal()).toEqual({ value: 'far', after: 0 });
    await far.register(newWorker('far-1', FAR));
    expect(await far.seal()).toEqual({ value: 'far', after: 0 });
  },

  'loaded attempts belong to the host that loads them': async ({ store, another }) => {
    const far = await another(undefined, 'other');
    await far.settle(ending(await startOnOtherHost(far), succeeded));
    const rows: Parameters<Parameters<Store['dump']>[0]>[0][] = [];
    await far.dump((row) => rows.push(row));
    await far.remove(['a'], ['completed'], NOW);
    const settleLost = (job: ClaimedJob) => ending(job, { why: 'lost' });
    await store.load(rows, { onConflict: 'skip', settleLost, keepFile: () => {} });
    expect((await store.attempts('a')).map((attempt) => attempt.otherHost)).toEqual([null]);
    expect((await far.attempts('a')).map((attempt) => attempt.otherHost)).not.toEqual([null]);
  },
};
