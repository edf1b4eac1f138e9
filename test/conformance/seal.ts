import { expect } from 'bun:test';
import { claimOne, jobSpec, NOW, newWorker } from '../support/jobs.ts';
import type { Case } from './topic.ts';

export const seal: Record<string, Case> = {
  'a new store has no seal': async ({ store }) => {
    expect(await store.seal()).toBeNull();
  },

  'a seal covers the attempts that start after its value was first stored': async ({ store, another }) => {
    await store.register(newWorker('w1'));
    await store.insert([jobSpec('a'), jobSpec('b')], NOW);
    await store.storeSeal('one');
    expect(await store.seal()).toEqual({ value: 'one', after: 0 });
    const { attempt } = (await claimOne(store)).claim;
    await store.storeSeal('one');
    expect(await store.seal()).toEqual({ value: 'one', after: 0 });
    await (await another()).storeSeal('two');
    expect(await store.seal()).toEqual({ value: 'two', after: attempt });
  },
};
