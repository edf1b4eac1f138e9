import { expect } from 'bun:test';
import { claimRequest, ending, failedWith, ids, jobSpec, NOW, startJob, succeeded } from '../support/jobs.ts';
import type { Case } from './topic.ts';

export const settleAndClaim: Record<string, Case> = {
  'settling and claiming happen in one step': async ({ store }) => {
    const first = await startJob(store, 'a');
    await store.insert([jobSpec('b'), jobSpec('c')], NOW);
    const result = await store.claim(claimRequest({ settlements: [ending(first, succeeded)] }), NOW + 1000);
    expect(result.settled).toEqual(['applied']);
    expect(ids(result.jobs)).toEqual(['b']);
    expect((await store.get('a'))?.state).toBe('completed');
  },

  'a job that is settled in a step can be claimed in the same step': async ({ store }) => {
    const first = await startJob(store, 'a');
    const result = await store.claim(
      claimRequest({ settlements: [ending(first, { why: 'stopped' })] }),
      NOW + 1000,
    );
    expect(result.settled).toEqual(['applied']);
    expect(ids(result.jobs)).toEqual(['a']);
    expect(result.jobs[0]!.claim.token).toBeGreaterThan(first.claim.token);
  },

  'a combined step settles even if it claims nothing, and returns each result': async ({ store }) => {
    const a = await startJob(store, 'a');
    const b = await startJob(store, 'b');
    const lost = { ...a, claim: { ...a.claim, token: a.claim.token + 5 } };
    const request = claimRequest({
      limit: 0,
      settlements: [
        ending(lost, succeeded),
        ending(a, succeeded),
        ending(b, failedWith(1)),
        ending(a, succeeded),
      ],
    });
    const result = await store.claim(request, NOW + 1000);
    expect(result).toEqual({
      settled: ['lost', 'applied', 'applied', 'already-mine'],
      jobs: [],
      mayHaveMadeRoom: false,
      hasUnblocked: false,
    });
    expect((await store.get('b'))?.state).toBe('failed');
  },

  'a worker that lost one claim still gets new jobs': async ({ store }) => {
    const first = await startJob(store, 'a');
    await store.adopt(first.claim, 'w2');
    await store.insert([jobSpec('b')], NOW);
    const result = await store.claim(claimRequest({ settlements: [ending(first, succeeded)] }), NOW);
    expect(result.settled).toEqual(['lost']);
    expect(ids(result.jobs)).toEqual(['b']);
  },
};
