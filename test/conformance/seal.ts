import { expect } from 'bun:test';
import { claimOne, jobSpec, NOW, newWorker } from '../support/jobs.ts';
import type { Case } from './topic.ts';

export const seal: Record<string, Case> = {
  'there is none at first': async ({ store }) => {
    expect(await store.seal()).toBeNull();
  },

  'it holds for attempts after the one that was last when its value was stored first': async ({
    store,
    another,
  }) => {
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
