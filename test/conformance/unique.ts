import { expect } from 'bun:test';
import type { Uniqueness } from '../../src/core/job.ts';
import { claimOne, ending, failedWith, ids, jobSpec, NOW, running, succeeded } from '../support/jobs.ts';
import type { Case } from './topic.ts';

const active: Uniqueness = { key: 'k', while: 'active', forMs: null };
const again = jobSpec('again', { unique: active });

export const unique: Record<string, Case> = {
  'a second job with a key that is taken is not added, and the first is answered': async ({ store }) => {
    await store.insert([jobSpec('first', { unique: active })], NOW);
    const [answer, other] = await store.insert([again, jobSpec('other')], NOW + 1);
    expect(answer).toMatchObject({ id: 'first', existing: true, createdAt: NOW });
    expect(other).not.toHaveProperty('existing');
    expect(ids(await store.list({}, { limit: 5 }))).toEqual(['other', 'first']);
  },

  'the key is taken while the job waits, runs and waits for a retry, and free when it has ended': async ({
    store,
  }) => {
    const job = await running(store, 'first', { unique: active });
    expect((await store.insert([again], NOW))[0]).toMatchObject({ id: 'first', existing: true });
    await store.settle(ending(job, failedWith(1)));
    expect((await store.insert([again], NOW))[0]).toMatchObject({ id: 'first', existing: true });
    const second = await claimOne(store, 'w1', NOW + 60_000);
    await store.settle(ending(second, succeeded, NOW + 61_000));
    expect((await store.insert([again], NOW))[0]).toMatchObject({ id: 'again' });
    expect((await store.insert([jobSpec('third', { unique: active })], NOW))[0]).toMatchObject({
      id: 'again',
    });
  },

  'while pending: the key is free as soon as the job runs, and its own retries do not take it': async ({
    store,
  }) => {
    const pending: Uniqueness = { ...active, while: 'pending' };
    const job = await running(store, 'first', { unique: pending });
    expect((await store.insert([jobSpec('next', { unique: pending })], NOW))[0]).toMatchObject({
      id: 'next',
    });
    await store.settle(ending(job, failedWith(1)));
    expect(await store.get('first')).toMatchObject({ state: 'failed' });
  },

  'for a time: the key is taken that long, whatever becomes of the job': async ({ store }) => {
    const hour: Uniqueness = { ...active, forMs: 3_600_000 };
    const job = await running(store, 'first', { unique: hour });
    await store.settle(ending(job, succeeded));
    const later = jobSpec('later', { unique: hour });
    expect((await store.insert([later], NOW + 3_599_999))[0]).toMatchObject({ id: 'first', existing: true });
    expect((await store.insert([later], NOW + 3_600_000))[0]).toMatchObject({ id: 'later' });
    expect((await store.get('later'))?.unique).toEqual(hour);
  },

  'a cancelled or removed job frees its key': async ({ store }) => {
    await store.insert([jobSpec('first', { unique: active })], NOW);
    await store.cancel(['first'], NOW);
    expect((await store.insert([again], NOW))[0]).toMatchObject({ id: 'again' });
    await store.remove(['again'], ['pending'], NOW);
    expect((await store.insert([jobSpec('third', { unique: active })], NOW))[0]).toMatchObject({
      id: 'third',
    });
  },

  'within one batch the first of a key is added, and answered for the others': async ({ store }) => {
    const jobs = ['a', 'b', 'c'].map((id) => jobSpec(id, { unique: active }));
    const answers = await store.insert([jobSpec('plain'), ...jobs], NOW);
    expect(ids(answers)).toEqual(['plain', 'a', 'a', 'a']);
    expect(ids(await store.list({}, { limit: 5 }))).toEqual(['a', 'plain']);
  },
};
