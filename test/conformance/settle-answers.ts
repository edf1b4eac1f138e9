import { expect } from 'bun:test';
import type { Store } from '../../src/store/store.ts';
import { claimOne, ending, failedWith, NOW, startJob, succeeded } from '../support/jobs.ts';
import type { Case } from './topic.ts';

/** Returns everything a store holds about one job, to show that nothing changed. */
async function everythingAbout(store: Store, id: string): Promise<unknown> {
  return [await store.get(id), await store.attempts(id), await store.runningJobs(), await store.counts()];
}

export const settleAnswers: Record<string, Case> = {
  'repeating a settlement returns already-mine and changes nothing': async ({ store }) => {
    for (const [i, outcome] of [succeeded, failedWith(1), { why: 'lost' } as const].entries()) {
      const job = await startJob(store, `job-${i}`);
      const settlement = ending(job, outcome, NOW + 1000, {
        output: { bytes: 2, truncated: false, kept: Buffer.from('hi') },
      });
      expect(await store.settle(settlement)).toBe('applied');
      const before = await everythingAbout(store, job.id);
      expect(await store.settle(settlement)).toBe('already-mine');
      expect(await everythingAbout(store, job.id)).toEqual(before);
      if (outcome.why === 'lost') await store.settle(ending(await claimOne(store), succeeded));
    }
  },

  'repeating a settlement also returns already-mine if the command never started': async ({ store }) => {
    const settlement = ending(await startJob(store, 'a'), { why: 'never-started' });
    expect(await store.settle(settlement)).toBe('applied');
    expect(await store.settle(settlement)).toBe('already-mine');
  },

  'repeating a settlement also returns already-mine after the next claim': async ({ store }) => {
    const settlement = ending(await startJob(store, 'a'), failedWith(1), NOW);
    await store.settle(settlement);
    const next = await claimOne(store, 'w2', NOW + 2000);
    const before = await everythingAbout(store, 'a');
    expect(await store.settle(settlement)).toBe('already-mine');
    expect(await everythingAbout(store, 'a')).toEqual(before);
    expect(await store.settle(ending(next, succeeded, NOW + 3000))).toBe('applied');
  },

  'a settlement with a stale token changes nothing': async ({ store }) => {
    const old = await startJob(store, 'a');
    const adopted = await store.adopt(old.claim, 'w2');
    const before = await everythingAbout(store, 'a');
    expect(await store.settle(ending(old, succeeded))).toBe('lost');
    expect(await everythingAbout(store, 'a')).toEqual(before);
    expect(await store.settle(ending(adopted!, failedWith(1)))).toBe('applied');
    expect(await store.settle(ending(old, succeeded))).toBe('lost');
    expect((await store.get('a'))?.state).toBe('failed');
  },

  'a claim of an earlier attempt cannot end a later one': async ({ store }) => {
    const old = await startJob(store, 'a');
    await store.settle(ending(old, { why: 'lost' }));
    await claimOne(store, 'w2');
    const before = await everythingAbout(store, 'a');
    expect(await store.settle(ending(old, succeeded))).toBe('lost');
    expect(await everythingAbout(store, 'a')).toEqual(before);
  },

  'a settled job cannot be settled differently': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.settle(ending(job, succeeded));
    const before = await everythingAbout(store, 'a');
    expect(await store.settle(ending(job, { why: 'timeout' }))).toBe('lost');
    expect(await everythingAbout(store, 'a')).toEqual(before);
  },

  'a settlement with a future token or of an unknown or removed job returns lost': async ({ store }) => {
    const job = await startJob(store, 'a');
    const settlement = ending(job, succeeded);
    expect(await store.settle({ ...settlement, claim: { ...job.claim, token: job.claim.token + 1 } })).toBe(
      'lost',
    );
    expect(await store.settle({ ...settlement, claim: { ...job.claim, job: job.claim.job + 99 } })).toBe(
      'lost',
    );
    await store.settle(settlement);
    await store.remove(['a'], ['completed'], NOW);
    expect(await store.settle(settlement)).toBe('lost');
  },
};
