import { expect } from 'bun:test';
import type { Uniqueness } from '../../src/core/jobs/job.ts';
import { claimOne, ending, failedWith, ids, jobSpec, NOW, startJob, succeeded } from '../support/jobs.ts';
import type { Case } from './topic.ts';

const activeKey: Uniqueness = { key: 'k', while: 'active', forMs: null };
const sameKeyJob = jobSpec('again', { unique: activeKey });

export const unique: Record<string, Case> = {
  'a second job with a taken key is not added, and the first is returned': async ({ store }) => {
    await store.insert([jobSpec('first', { unique: activeKey })], NOW);
    const [answer, other] = await store.insert([sameKeyJob, jobSpec('other')], NOW + 1);
    expect(answer).toMatchObject({ id: 'first', existing: true, createdAt: NOW });
    expect(other).not.toHaveProperty('existing');
    expect(ids(await store.list({}, { limit: 5 }))).toEqual(['other', 'first']);
  },

  'a key is taken until its job has ended, also while the job waits for a retry': async ({ store }) => {
    const job = await startJob(store, 'first', { unique: activeKey });
    expect((await store.insert([sameKeyJob], NOW))[0]).toMatchObject({ id: 'first', existing: true });
    await store.settle(ending(job, failedWith(1)));
    expect((await store.insert([sameKeyJob], NOW))[0]).toMatchObject({ id: 'first', existing: true });
    const second = await claimOne(store, 'w1', NOW + 60_000);
    await store.settle(ending(second, succeeded, NOW + 61_000));
    expect((await store.insert([sameKeyJob], NOW))[0]).toMatchObject({ id: 'again' });
    expect((await store.insert([jobSpec('third', { unique: activeKey })], NOW))[0]).toMatchObject({
      id: 'again',
    });
  },

  'a pending-only key is free when its job runs, and the job can still be retried': async ({ store }) => {
    const pending: Uniqueness = { ...activeKey, while: 'pending' };
    const job = await startJob(store, 'first', { unique: pending });
    expect((await store.insert([jobSpec('next', { unique: pending })], NOW))[0]).toMatchObject({
      id: 'next',
    });
    await store.settle(ending(job, failedWith(1)));
    expect(await store.get('first')).toMatchObject({ state: 'failed' });
  },

  'a timed key is taken for its time, whatever happens to the job': async ({ store }) => {
    const hourKey: Uniqueness = { ...activeKey, forMs: 3_600_000 };
    const job = await startJob(store, 'first', { unique: hourKey });
    await store.settle(ending(job, succeeded));
    const later = jobSpec('later', { unique: hourKey });
    expect((await store.insert([later], NOW + 3_599_999))[0]).toMatchObject({ id: 'first', existing: true });
    expect((await store.insert([later], NOW + 3_600_000))[0]).toMatchObject({ id: 'later' });
    expect((await store.get('later'))?.unique).toEqual(hourKey);
  },

  'a cancelled or removed job frees its key': async ({ store }) => {
    await store.insert([jobSpec('first', { unique: activeKey })], NOW);
    await store.cancel(['first'], NOW);
    expect((await store.insert([sameKeyJob], NOW))[0]).toMatchObject({ id: 'again' });
    await store.remove(['again'], ['pending'], NOW);
    expect((await store.insert([jobSpec('third', { unique: activeKey })], NOW))[0]).toMatchObject({
      id: 'third',
    });
  },

  'within one batch the first job of a key is added and returned for the others': async ({ store }) => {
    const jobs = ['a', 'b', 'c'].map((id) => jobSpec(id, { unique: activeKey }));
    const answers = await store.insert([jobSpec('plain'), ...jobs], NOW);
    expect(ids(answers)).toEqual(['plain', 'a', 'a', 'a']);
    expect(ids(await store.list({}, { limit: 5 }))).toEqual(['a', 'plain']);
  },

  'a retried job takes its key again': async ({ store }) => {
    const pendingKey: Uniqueness = { ...activeKey, key: 'p', while: 'pending' };
    await store.insert(
      [jobSpec('first', { unique: activeKey }), jobSpec('waits', { unique: pendingKey })],
      NOW,
    );
    await store.cancel(['first', 'waits'], NOW);
    expect(await store.retry(['first', 'waits'], ['cancelled'], NOW)).toEqual(['first', 'waits']);
    expect((await store.insert([sameKeyJob], NOW))[0]).toMatchObject({ id: 'first', existing: true });
    expect((await store.insert([jobSpec('b', { unique: pendingKey })], NOW))[0]).toMatchObject({
      id: 'waits',
    });
  },

  'a job whose key another job has is not retried, and keyHolder returns that job': async ({ store }) => {
    await store.insert([jobSpec('first', { unique: activeKey })], NOW);
    await store.cancel(['first'], NOW);
    await store.insert([sameKeyJob], NOW);
    await store.cancel(['again'], NOW);
    // Of two jobs that are retried together, the first one takes the key.
    expect(await store.retry(['again', 'first'], ['cancelled'], NOW)).toEqual(['again']);
    expect(await store.get('first')).toMatchObject({ state: 'cancelled' });
    expect(await store.keyHolder('first', ['cancelled'], NOW)).toBe('again');
    expect(await store.keyHolder('first', ['dead'], NOW)).toBeNull();
    expect(await store.keyHolder('again', ['pending'], NOW)).toBeNull();
    await store.cancel(['again'], NOW);
    expect(await store.keyHolder('first', ['cancelled'], NOW)).toBeNull();
    expect(await store.retry(['first'], ['cancelled'], NOW)).toEqual(['first']);
  },

  'a job that is retried after its key expired does not take the key': async ({ store }) => {
    const hourKey: Uniqueness = { ...activeKey, forMs: 3_600_000 };
    await store.insert([jobSpec('first', { unique: hourKey })], NOW);
    await store.cancel(['first'], NOW);
    expect((await store.insert([sameKeyJob], NOW + 3_600_000))[0]).toMatchObject({ id: 'again' });
    expect(await store.retry(['first'], ['cancelled'], NOW + 3_600_000)).toEqual(['first']);
    await store.cancel(['again', 'first'], NOW);
    // A key whose time is over belongs to no job, even if nothing has used it since.
    await store.insert([jobSpec('third', { unique: hourKey })], NOW);
    expect(await store.keyHolder('again', ['cancelled'], NOW + 1)).toBe('third');
    expect(await store.retry(['again'], ['cancelled'], NOW + 1)).toEqual([]);
    expect(await store.keyHolder('again', ['cancelled'], NOW + 3_600_000)).toBeNull();
    expect(await store.retry(['again'], ['cancelled'], NOW + 3_600_000)).toEqual(['again']);
  },
};
