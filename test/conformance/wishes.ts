import { expect } from 'bun:test';
import { claimOne, ending, failedWith, jobSpec, NOW, startJob, succeeded } from '../support/jobs.ts';
import type { Case } from './topic.ts';

export const wishes: Record<string, Case> = {
  'a wished signal reaches the worker of the running job, until it was sent': async ({ store, another }) => {
    const job = await startJob(store, 'a');
    expect(await store.wishes('w1')).toEqual([]);
    expect(await (await another()).wishSignal(['a', 'nobody'], 'SIGSTOP')).toEqual(['a']);
    expect(await store.wishes('w1')).toEqual([{ claim: job.claim, end: null, signal: 'SIGSTOP' }]);
    expect(await store.wishes('w2')).toEqual([]);
    await store.signalSent(job.claim, 'SIGSTOP');
    expect(await store.wishes('w1')).toEqual([]);
  },

  'a later signal replaces one that was not sent, and stays when only the first was sent': async ({
    store,
  }) => {
    const job = await startJob(store, 'a');
    await store.wishSignal(['a'], 'SIGSTOP');
    await store.wishSignal(['a'], 'SIGCONT');
    await store.signalSent(job.claim, 'SIGSTOP');
    expect(await store.wishes('w1')).toMatchObject([{ end: null, signal: 'SIGCONT' }]);
  },

  'a job that does not run, or that is being stopped, gets no wished signal': async ({ store }) => {
    await store.insert([jobSpec('waits', { runAt: NOW + 60_000 })], NOW);
    const failed = await startJob(store, 'failed');
    await store.settle(ending(failed, failedWith(1)));
    const job = await startJob(store, 'a');
    await store.setEndReason(job.claim, 'timeout');
    expect(await store.wishSignal(['waits', 'failed', 'a'], 'SIGINT')).toEqual([]);
    expect(await store.wishes('w1')).toEqual([{ claim: job.claim, end: 'timeout', signal: null }]);
  },

  'a lost claim cannot remove the wish of the next worker': async ({ store }) => {
    const job = await startJob(store, 'a');
    const adopted = (await store.adopt(job.claim, 'w2'))!;
    await store.wishSignal(['a'], 'SIGINT');
    await store.signalSent(job.claim, 'SIGINT');
    expect(await store.wishes('w2')).toEqual([{ claim: adopted.claim, end: null, signal: 'SIGINT' }]);
  },

  'an adopter gets the wishes of the attempt, and the next attempt has none': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.wishSignal(['a'], 'SIGSTOP');
    const adopted = (await store.adopt(job.claim, 'w2'))!;
    expect(await store.wishes('w1')).toEqual([]);
    expect(await store.wishes('w2')).toEqual([{ claim: adopted.claim, end: null, signal: 'SIGSTOP' }]);
    await store.settle(ending(adopted, { why: 'stopped' }));
    expect(await store.wishes('w2')).toEqual([]);
    await claimOne(store, 'w2');
    expect(await store.wishes('w2')).toEqual([]);
  },

  'a cancel has the signal that it was given first, and none that was wished before': async ({ store }) => {
    const { claim } = await startJob(store, 'a');
    await store.wishSignal(['a'], 'SIGSTOP');
    await store.cancel(['a'], NOW);
    expect(await store.wishes('w1')).toEqual([{ claim, end: 'cancelled', signal: null }]);
    await store.cancel(['a'], NOW, 'SIGINT');
    await store.cancel(['a'], NOW);
    await store.signalSent(claim, 'SIGINT');
    expect(await store.wishes('w1')).toEqual([{ claim, end: 'cancelled', signal: 'SIGINT' }]);
  },

  'mine returns the running jobs of one worker with their claims': async ({ store }) => {
    const a = await startJob(store, 'a');
    const b = await startJob(store, 'b');
    await store.insert([jobSpec('c'), jobSpec('ready')], NOW);
    const c = await claimOne(store, 'w2');
    expect((await store.mine('w1')).sort((x, y) => x.id.localeCompare(y.id))).toEqual([a, b]);
    expect(await store.mine('w2')).toEqual([c]);
    expect(await store.mine('nobody')).toEqual([]);
    await store.settle(ending(a, succeeded));
    const adopted = await store.adopt(b.claim, 'w2');
    expect(await store.mine('w1')).toEqual([]);
    expect((await store.mine('w2')).sort((x, y) => x.id.localeCompare(y.id))).toEqual([adopted!, c]);
  },
};
