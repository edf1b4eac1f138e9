import { expect } from 'bun:test';
import type { ClaimedJob } from '../../src/core/jobs/job.ts';
import type { Store } from '../../src/store/store.ts';
import { asStored, claim, ending, HOST, jobSpec, NOW, newWorker, succeeded } from '../support/jobs.ts';
import { until } from '../support/queuectl.ts';
import type { Case } from './topic.ts';

const FAR = { hostname: 'far', host: { ...HOST, id: 'other' } };

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
    const leaseUntil = async () => (await store.hosts()).find(({ name }) => name === 'far')!.leaseUntil;
    const longest = await leaseUntil();
    await endLease(store, 'far-1');
    expect(await store.unregister('far-2')).toBe(true);
    expect(await leaseUntil()).toBe(longest);
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

  'an attempt of another boot of the same host is adopted only when the lease of that boot is over': async ({
    store,
    another,
  }) => {
    // The boot is an earlier one of this machine, or one of a machine that is a copy of it.
    const earlier = { ...HOST, boot: 'another' };
    await store.register(newWorker('before', { host: earlier, hostname: 'before', leaseMs: SHORT_LEASE_MS }));
    await store.insert([jobSpec('a')], NOW);
    const [job] = await claim(store, { workerId: 'before' });
    await store.register(newWorker('w1'));
    const far = await another(undefined, 'other');
    await far.register(newWorker('far-1', FAR));
    const seen = async () => [
      (await store.runningJobs())[0]!.otherHost,
      (await store.attempts('a'))[0]!.otherHost,
      (await store.workers()).find((one) => one.id === 'before')!.bootHasLease,
    ];
    expect(await seen()).toEqual(['before', 'before', true]);
    expect(await store.adopt(job!.claim, 'w1')).toBeNull();
    expect(await store.adopt(job!.claim, 'a-command')).toBeNull();
    await until(async () => (await seen())[2] === false, 'the lease of the other boot is over');
    expect(await seen()).toEqual([null, null, false]);
    // The host has a lease in its present boot, and the records of its attempts. Others wait for it.
    expect(await far.adopt(job!.claim, 'far-1')).toBeNull();
    expect(await store.adopt(job!.claim, 'w1')).toMatchObject({
      id: 'a',
      workerId: 'w1',
      otherHost: null,
      otherBoot: true,
    });
  },

  'each boot of a host has its own name and lease': async ({ store }) => {
    const copy = { ...HOST, boot: 'copy' };
    await store.register(newWorker('w1'));
    await store.register(newWorker('w2', { host: copy, hostname: 'copy' }));
    const leaseUntil = expect.any(Number);
    const known = [
      { id: HOST.id, boot: 'copy', name: 'copy', hasLease: true, leaseUntil },
      { id: HOST.id, boot: asStored(HOST).boot, name: 'machine', hasLease: true, leaseUntil },
    ];
    expect(await store.hosts()).toEqual(known);
    await store.registerSupervisor({ id: 's', pid: 1, startTime: '1', host: copy });
    expect((await store.supervisors()).map((one) => one.bootHasLease)).toEqual([true]);
    await endLease(store, 'w1');
    expect((await store.workers()).map((one) => [one.id, one.hasLease])).toEqual([
      ['w1', false],
      ['w2', true],
    ]);
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
