import { expect } from 'bun:test';
import { type Idempotency, KEY_KEPT_MS } from '../../src/core/jobs/enqueue-rules.ts';
import type { Store } from '../../src/store/store.ts';
import { ids, jobSpec, NOW } from '../support/jobs.ts';
import type { Case } from './topic.ts';

const keyAndBody: Idempotency = { key: 'k', body: 'body' };
const add = (store: Store, names: string[], given = keyAndBody, now = NOW) =>
  store.insert(
    names.map((name) => jobSpec(name)),
    now,
    undefined,
    given,
  );
const allIds = async (store: Store) => ids(await store.list({}, { limit: 99 })).reverse();

export const idempotency: Record<string, Case> = {
  'the same key and body add nothing the second time and return the first job': async ({ store }) => {
    expect((await add(store, ['first']))[0]).not.toHaveProperty('existing');
    expect(await add(store, ['again'], keyAndBody, NOW + 1)).toMatchObject([
      { id: 'first', existing: true, createdAt: NOW },
    ]);
    expect(await allIds(store)).toEqual(['first']);
    expect(ids(await add(store, ['other'], { ...keyAndBody, key: 'other' }))).toEqual(['other']);
  },

  'the result has the order of the given jobs, even if they depend on each other': async ({ store }) => {
    const jobs = [
      jobSpec('b', { dependsOn: [{ id: 'a', on: 'ok' }] }),
      jobSpec('a'),
      jobSpec('c', { stdin: 'x' }),
    ];
    for (const existing of [undefined, true] as const) {
      const answer = await store.insert(jobs, NOW, (job) => [job.id, job.existing], keyAndBody);
      expect(answer).toEqual(['b', 'a', 'c'].map((id) => [id, existing]));
    }
    expect(await store.counts()).toEqual([{ queue: 'default', state: 'pending', jobs: 3 }]);
  },

  'a key covers all jobs that were added with it, in order': async ({ store }) => {
    const names = Array.from({ length: 120 }, (_, i) => `job${i}`);
    await add(store, names);
    const answer = await store.insert([jobSpec('new')], NOW, (job) => [job.id, job.existing], keyAndBody);
    expect(answer).toEqual(names.map((name) => [name, true]));
  },

  'a different body is refused and changes nothing': async ({ store }) => {
    await add(store, ['first']);
    const another = add(store, ['again'], { key: 'k', body: 'another' });
    await expect(another).rejects.toMatchObject({ code: 'key-reused' });
    expect(await allIds(store)).toEqual(['first']);
    expect(ids(await add(store, ['again']))).toEqual(['first']);
  },

  'a refused insert does not take its key': async ({ store }) => {
    await store.insert([jobSpec('taken')], NOW);
    await expect(add(store, ['new', 'taken'])).rejects.toMatchObject({ code: 'job-exists' });
    expect(ids(await add(store, ['new'], { key: 'k', body: 'another' }))).toEqual(['new']);
  },

  'one of many parallel inserts adds the job, and all return it': async ({ store, another }) => {
    const stores = [store, await another(), await another(), await another()];
    const answers = await Promise.all(
      stores.flatMap((one, i) => [0, 1, 2].map((n) => add(one, [`by-${i}-${n}`]))),
    );
    const jobs = answers.flat();
    expect(new Set(ids(jobs)).size).toBe(1);
    expect(jobs.filter((job) => !job.existing)).toHaveLength(1);
    expect(await allIds(store)).toHaveLength(1);
  },

  'a key outlives its job, and for a removed job only the id is returned': async ({ store }) => {
    await add(store, ['first']);
    await store.cancel(['first'], NOW);
    expect((await add(store, ['again']))[0]).toMatchObject({ id: 'first', state: 'cancelled' });
    await store.remove(['first'], ['cancelled'], NOW);
    const gone = { id: 'first', existing: true, gone: true } as const;
    expect(await add(store, ['again'])).toEqual([gone]);
    await store.insert([jobSpec('first')], NOW + 1);
    expect(await add(store, ['again'], keyAndBody, NOW + 2)).toEqual([gone]);
    expect(await store.insert([jobSpec('again')], NOW, (job) => job, keyAndBody)).toEqual([gone]);
    expect(await allIds(store)).toEqual(['first']);
  },

  'repeating an insert that returned the holder of a unique key returns it again': async ({ store }) => {
    const unique = { key: 'u', while: 'active', forMs: null } as const;
    await store.insert([jobSpec('holder', { unique })], NOW);
    const both = () => [jobSpec('plain'), jobSpec('second', { unique })];
    expect(ids(await store.insert(both(), NOW, undefined, keyAndBody))).toEqual(['plain', 'holder']);
    expect(ids(await store.insert(both(), NOW, undefined, keyAndBody))).toEqual(['plain', 'holder']);
  },

  'an expired key can be used again, even before it is removed': async ({ store }) => {
    await add(store, ['first']);
    expect(ids(await add(store, ['again'], keyAndBody, NOW + KEY_KEPT_MS - 1))).toEqual(['first']);
    expect(ids(await add(store, ['again'], { key: 'k', body: 'b' }, NOW + KEY_KEPT_MS))).toEqual(['again']);
  },

  'old keys are removed in small steps, and recent ones stay': async ({ store }) => {
    for (let i = 0; i < 130; i++) await add(store, [`job${i}`], { key: `k${i}`, body: 'b' });
    await add(store, ['young'], keyAndBody, NOW + 1);
    expect(await store.forgetKeys(NOW + KEY_KEPT_MS - 1)).toBe(0);
    const gone: number[] = [];
    do gone.push(await store.forgetKeys(NOW + KEY_KEPT_MS));
    while (gone.at(-1) !== 0);
    expect(gone.reduce((a, b) => a + b)).toBe(130);
    expect(Math.max(...gone)).toBeLessThan(130);
    expect(ids(await add(store, ['again'], keyAndBody, NOW + 2))).toEqual(['young']);
  },
};
