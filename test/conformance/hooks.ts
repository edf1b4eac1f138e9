import { expect } from 'bun:test';
import type { Store } from '../../src/store/store.ts';
import {
  claim,
  claimOne,
  claimRequest,
  ending,
  failedWith,
  ids,
  jobSpec,
  NOW,
  startJob,
  succeeded,
} from '../support/jobs.ts';
import type { Case } from './topic.ts';

const hook = (id: string) =>
  jobSpec(id, { queue: 'hooks', env: { QUEUECTL_HOOK_EVENT: 'dead' }, name: 'on-dead' });
const allIds = async (store: Store): Promise<string[]> => ids(await store.list({}, { limit: 99 })).reverse();

export const hooks: Record<string, Case> = {
  'hooks are added only if their settlement is applied': async ({ store }) => {
    const job = await startJob(store, 'a');
    const settlement = ending(job, succeeded, NOW, { hooks: [hook('h1'), hook('h2')] });
    expect(await store.settle(settlement)).toBe('applied');
    expect(await store.get('h1')).toMatchObject({ ...hook('h1'), state: 'pending', createdAt: NOW });
    expect(await store.settle(settlement)).toBe('already-mine');
    expect(await store.settle({ ...settlement, exitCode: 9, hooks: [hook('h3')] })).toBe('lost');
    expect(await allIds(store)).toEqual(['a', 'h1', 'h2']);
  },

  'a lost claim adds no hooks': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.adopt(job.claim, 'w2');
    const late = ending(job, succeeded, NOW, { hooks: [hook('h1')], onIdle: hook('idle') });
    expect(await store.settle(late)).toBe('lost');
    expect(await allIds(store)).toEqual(['a']);
  },

  'a hook can be claimed in the step that adds it': async ({ store }) => {
    const job = await startJob(store, 'a');
    const settlements = [ending(job, succeeded, NOW, { hooks: [hook('h1')] })];
    const result = await store.claim(claimRequest({ settlements, queues: ['hooks'] }), NOW);
    expect([result.settled, ids(result.jobs)]).toEqual([['applied'], ['h1']]);
  },

  'a hook whose id is taken is still added, and the settlement is applied': async ({ store }) => {
    await store.insert([jobSpec('h1', { runAt: NOW + 1e6 })], NOW);
    const job = await startJob(store, 'a');
    expect(await store.settle(ending(job, succeeded, NOW, { hooks: [hook('h1')] }))).toBe('applied');
    expect((await store.get('a'))?.state).toBe('completed');
    expect(await store.counts()).toContainEqual({ queue: 'hooks', state: 'pending', jobs: 1 });
  },

  'the idle hook is added when the last running job ends, and only then': async ({ store }) => {
    await store.insert([jobSpec('a'), jobSpec('b', { queue: 'mail' })], NOW);
    const [a, b] = await claim(store, { limit: 2 });
    await store.settle(ending(a!, succeeded, NOW, { onIdle: hook('idle1') }));
    expect(await store.get('idle1')).toBeNull();
    await store.settle(ending(b!, succeeded, NOW, { onIdle: hook('idle2') }));
    expect(await store.get('idle2')).toMatchObject({ state: 'pending', queue: 'hooks' });
  },

  'a job that is ready, due or to be retried prevents the idle hook': async ({ store }) => {
    const idle = { onIdle: hook('idle') };
    const first = await startJob(store, 'first');
    await store.insert([jobSpec('ready')], NOW);
    await store.settle(ending(first, succeeded, NOW, idle));
    await store.insert([jobSpec('due', { runAt: NOW + 5 })], NOW);
    await store.settle(ending(await claimOne(store), succeeded, NOW + 5, idle));
    const due = await claimOne(store, 'w1', NOW + 5);
    await store.settle(ending(due, failedWith(1), NOW + 5, idle));
    expect(await store.get('idle')).toBeNull();
    const again = await claimOne(store, 'w1', NOW + 1e6);
    await store.settle(ending(again, succeeded, NOW + 1e6, idle));
    expect(await store.get('idle')).not.toBeNull();
  },

  'jobs that are due later, held, in a paused queue or in the queue of hooks do not prevent the idle hook':
    async ({ store }) => {
      const job = await startJob(store, 'a');
      const paused = jobSpec('paused', { queue: 'paused' });
      await store.insert([jobSpec('later', { runAt: NOW + 1e6 }), jobSpec('held'), paused, hook('h')], NOW);
      await store.hold(['held'], NOW);
      await store.setQueue('paused', { paused: { at: NOW, by: 'me' } });
      await store.settle(ending(job, succeeded, NOW, { onIdle: hook('idle') }));
      expect(await store.get('idle')).not.toBeNull();
    },

  'an unblocked job prevents the idle hook, and the end of the last job adds it': async ({ store }) => {
    await store.insert([jobSpec('a'), jobSpec('b', { dependsOn: [{ id: 'a', on: 'ok' }] })], NOW);
    await store.settle(ending(await claimOne(store), succeeded, NOW, { onIdle: hook('idle1') }));
    expect(await store.get('idle1')).toBeNull();
    await store.settle(ending(await claimOne(store), succeeded, NOW, { onIdle: hook('idle2') }));
    expect(await store.get('idle2')).not.toBeNull();
  },
};
