import { expect } from 'bun:test';
import { claimOne, ending, failedWith, jobSpec, NOW, startJob, succeeded } from '../support/jobs.ts';
import type { Case } from './topic.ts';

export const settle: Record<string, Case> = {
  'success completes the job and closes its attempt': async ({ store }) => {
    const job = await startJob(store, 'a');
    expect(await store.settle(ending(job, succeeded, NOW + 1500, { leftBehind: [12, 34] }))).toBe('applied');
    expect(await store.get('a')).toMatchObject({ state: 'completed', attempts: 1, crashes: 0, exitCode: 0 });
    expect(await store.get('a')).toMatchObject({
      finishedAt: NOW + 1500,
      updatedAt: NOW + 1500,
      durationMs: 1500,
    });
    expect(await store.get('a')).toMatchObject({ workerId: null, dueAt: null, lastError: null });
    expect(await store.attempts('a')).toMatchObject([
      {
        number: job.claim.attempt,
        ordinal: 1,
        finishedAt: NOW + 1500,
        why: 'exited',
        exitCode: 0,
        leftBehind: [12, 34],
      },
    ]);
    expect(await store.runningJobs()).toEqual([]);
  },

  'a measured duration is stored, whatever the clock shows': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.settle(ending(job, succeeded, NOW - 5000, { durationMs: 700 }));
    expect(await store.get('a')).toMatchObject({ durationMs: 700 });
    expect(await store.attempts('a')).toMatchObject([{ durationMs: 700 }]);
    expect(await store.finishedAttempts(1)).toMatchObject([{ runMs: 700 }]);
  },

  'a failed job waits for its retry, and is dead when no retry is left': async ({ store }) => {
    let job = await startJob(store, 'a', { maxRetries: 2 });
    await store.settle(ending(job, failedWith(3), NOW + 1000));
    expect(await store.get('a')).toMatchObject({
      state: 'failed',
      attempts: 1,
      dueAt: NOW + 3000,
      finishedAt: null,
    });
    expect(await store.get('a')).toMatchObject({ exitCode: 3, lastError: 'exit code 3', workerId: null });
    job = await claimOne(store, 'w2', NOW + 3000);
    expect(job).toMatchObject({ ordinal: 2, attempts: 1 });
    await store.settle(ending(job, { why: 'timeout' }, NOW + 9000));
    expect(await store.get('a')).toMatchObject({
      state: 'dead',
      attempts: 2,
      dueAt: null,
      finishedAt: NOW + 9000,
    });
    const [first, second] = await store.attempts('a');
    expect(first).toMatchObject({
      ordinal: 1,
      workerId: 'w1',
      why: 'exited',
      exitCode: 3,
      error: 'exit code 3',
    });
    expect(second).toMatchObject({
      ordinal: 2,
      workerId: 'w2',
      why: 'timeout',
      exitCode: 124,
      error: 'timed out',
    });
  },

  'a retry is not claimed before its time': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.settle(ending(job, failedWith(1), NOW));
    const early = await store.claim({ workerId: 'w1', limit: 1, queues: null, settlements: [] }, NOW + 1999);
    expect(early.jobs).toEqual([]);
    expect((await claimOne(store, 'w1', NOW + 2000)).id).toBe('a');
  },

  'a cancelled attempt ends the job and is not counted': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.settle(ending(job, { why: 'cancelled' }));
    expect(await store.get('a')).toMatchObject({ state: 'cancelled', attempts: 0, finishedAt: NOW + 1000 });
  },

  'a stopped job is pending again in its old position, and its attempt is not counted': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.insert([jobSpec('b')], NOW);
    await store.settle(ending(job, { why: 'stopped' }));
    expect(await store.get('a')).toMatchObject({
      state: 'pending',
      attempts: 0,
      crashes: 0,
      workerId: null,
      finishedAt: null,
    });
    expect(await store.attempts('a')).toMatchObject([{ ordinal: 1, why: 'stopped' }]);
    const again = await claimOne(store);
    expect(again).toMatchObject({ id: 'a', ordinal: 2 });
  },

  'a command that never started leaves no attempt and is not counted': async ({ store }) => {
    const job = await startJob(store, 'a');
    expect(await store.settle(ending(job, { why: 'never-started' }))).toBe('applied');
    expect(await store.get('a')).toMatchObject({ state: 'pending', attempts: 0, crashes: 0, workerId: null });
    expect(await store.attempts('a')).toEqual([]);
    expect(await store.finishedAttempts(10)).toEqual([]);
    const again = await claimOne(store);
    expect(again.ordinal).toBe(1);
    expect(again.claim.attempt).toBeGreaterThan(job.claim.attempt);
    expect(again.claim.token).toBeGreaterThan(job.claim.token);
  },

  'a job whose command never started has waited since it became due': async ({ store }) => {
    await store.insert([jobSpec('a')], NOW);
    const job = await claimOne(store, 'w1', NOW + 5000);
    await store.settle(ending(job, { why: 'never-started' }, NOW + 5100));
    expect(await store.oldestWaiting(NOW + 6000)).toEqual([{ queue: 'default', since: NOW }]);
    const again = await claimOne(store, 'w1', NOW + 7000);
    await store.settle(ending(again, { why: 'never-started' }, NOW + 7100));
    expect(await store.oldestWaiting(NOW + 8000)).toEqual([{ queue: 'default', since: NOW }]);
  },

  'lost attempts count as crashes, not as attempts, and the job is dead at the limit': async ({ store }) => {
    await store.insert([jobSpec('a')], NOW);
    for (let crashes = 1; crashes <= 4; crashes++) {
      await store.settle(ending(await claimOne(store), { why: 'lost' }));
      expect(await store.get('a')).toMatchObject({ state: 'pending', attempts: 0, crashes });
    }
    await store.settle(ending(await claimOne(store), { why: 'lost' }));
    expect(await store.get('a')).toMatchObject({ state: 'dead', attempts: 0, crashes: 5 });
    expect(await store.attempts('a')).toHaveLength(5);
  },

  'a settlement outlives its connection': async ({ store, another, close }) => {
    await store.settle(ending(await startJob(store, 'a'), failedWith(7)));
    const before = [await store.get('a'), await store.attempts('a'), await store.counts()];
    await close(store);
    const next = await another();
    expect([await next.get('a'), await next.attempts('a'), await next.counts()]).toEqual(before);
  },
};
