import { expect } from 'bun:test';
import {
  claim,
  claimOne,
  ending,
  failedWith,
  ids,
  jobSpec,
  NOW,
  startJob,
  succeeded,
} from '../support/jobs.ts';
import type { Case } from './topic.ts';

export const adopt: Record<string, Case> = {
  'an adopter gets a higher token for the same attempt': async ({ store }) => {
    const job = await startJob(store, 'a');
    const adopted = await store.adopt(job.claim, 'w2');
    expect(adopted).toMatchObject({
      id: 'a',
      state: 'processing',
      workerId: 'w2',
      ordinal: 1,
      startedAt: job.startedAt,
    });
    expect(adopted!.claim.token).toBeGreaterThan(job.claim.token);
    expect(adopted!.claim).toMatchObject({ job: job.claim.job, attempt: job.claim.attempt });
    expect(await store.runningJobs()).toEqual([adopted!]);
    expect(await store.attempts('a')).toMatchObject([{ ordinal: 1, workerId: 'w2', finishedAt: null }]);
  },

  'an adoption makes the old claim void': async ({ store }) => {
    const job = await startJob(store, 'a');
    const adopted = await store.adopt(job.claim, 'w2');
    expect(await store.settle(ending(job, succeeded))).toBe('lost');
    expect(await store.setEndReason(job.claim, 'timeout')).toBe(false);
    expect(await store.adopt(job.claim, 'w3')).toBeNull();
    expect(await store.runningJobs()).toEqual([adopted!]);
    expect(await store.settle(ending(adopted!, failedWith(3)))).toBe('applied');
    expect(await store.get('a')).toMatchObject({ state: 'failed', attempts: 1, exitCode: 3 });
  },

  'only one of several adopters succeeds': async ({ store, another }) => {
    const job = await startJob(store, 'a');
    const adopters = [store, await another(), await another()];
    const answers = await Promise.all(adopters.map((adopter, i) => adopter.adopt(job.claim, `adopter-${i}`)));
    const winners = answers.filter((answer) => answer !== null);
    expect(winners).toHaveLength(1);
    expect(await store.runningJobs()).toEqual(winners);
  },

  'a job that has ended or was requeued cannot be adopted': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.settle(ending(job, { why: 'lost' }));
    expect(await store.adopt(job.claim, 'w2')).toBeNull();
    expect(await store.get('a')).toMatchObject({ state: 'pending', workerId: null });
    const again = await claimOne(store);
    await store.settle(ending(again, succeeded));
    expect(await store.adopt(again.claim, 'w2')).toBeNull();
    expect(await store.get('a')).toMatchObject({ state: 'completed', workerId: null });
  },

  'a job can be adopted more than once, each time from the current claim': async ({ store }) => {
    const job = await startJob(store, 'a');
    const second = await store.adopt(job.claim, 'w2');
    const third = await store.adopt(second!.claim, 'w3');
    expect(third!.claim.token).toBeGreaterThan(second!.claim.token);
    expect(await store.settle(ending(second!, succeeded))).toBe('lost');
    expect(await store.settle(ending(third!, succeeded))).toBe('applied');
    expect(await store.attempts('a')).toHaveLength(1);
  },

  'the next claim has a higher token than every adopter': async ({ store }) => {
    const job = await startJob(store, 'a');
    const adopted = await store.adopt(job.claim, 'w2');
    await store.settle(ending(adopted!, { why: 'stopped' }));
    expect((await claimOne(store)).claim.token).toBeGreaterThan(adopted!.claim.token);
  },

  'an attempt keeps the first reason to end it': async ({ store }) => {
    const job = await startJob(store, 'a');
    expect((await store.runningJobs())[0]?.endReason).toBeNull();
    expect(await store.setEndReason(job.claim, 'timeout')).toBe(true);
    expect(await store.setEndReason(job.claim, 'stopped')).toBe(true);
    expect((await store.runningJobs())[0]?.endReason).toBe('timeout');
  },

  'an adopter on a new connection gets the reason to end the attempt': async ({ store, another, close }) => {
    const job = await startJob(store, 'a');
    await store.setEndReason(job.claim, 'cancelled');
    await close(store);
    const next = await another();
    const adopted = await next.adopt(job.claim, 'w2');
    expect(adopted?.endReason).toBe('cancelled');
    expect(await next.setEndReason(adopted!.claim, 'stopped')).toBe(true);
    expect((await next.runningJobs())[0]?.endReason).toBe('cancelled');
  },

  'a lost claim cannot store a reason to end an attempt': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.settle(ending(job, { why: 'lost' }));
    expect(await store.setEndReason(job.claim, 'timeout')).toBe(false);
    const again = await claimOne(store);
    expect(again.endReason).toBeNull();
    expect(await store.setEndReason(job.claim, 'timeout')).toBe(false);
    expect(await store.setEndReason({ ...again.claim, token: again.claim.token + 1 }, 'timeout')).toBe(false);
    expect((await store.runningJobs())[0]?.endReason).toBeNull();
  },

  'the next attempt starts without a reason to end it': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.setEndReason(job.claim, 'stopped');
    await store.settle(ending(job, { why: 'stopped' }));
    expect((await claimOne(store)).endReason).toBeNull();
  },

  'runningJobs returns every running job with its worker, and no other job': async ({ store }) => {
    const waiting = jobSpec('waiting', { runAt: NOW + 60_000, priority: 20 });
    await store.insert(
      [jobSpec('a'), jobSpec('b', { queue: 'x' }), jobSpec('c'), jobSpec('ready'), waiting],
      NOW,
    );
    const [a] = await claim(store, { workerId: 'w1' });
    const running = await claim(store, { workerId: 'w2', limit: 2 });
    await store.settle(ending(a!, succeeded));
    const found = await store.runningJobs();
    expect(ids(found).sort()).toEqual(['b', 'c']);
    for (const job of running) expect(found).toContainEqual(job);
  },
};
