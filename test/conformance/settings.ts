import { expect } from 'bun:test';
import type { Case } from './topic.ts';

const accept = (): void => {};

export const settings: Record<string, Case> = {
  'a new store has no settings': async ({ store }) => {
    expect(await store.settings()).toEqual(new Map());
  },

  'a setting is stored, replaced and removed for all connections': async ({ store, another, close }) => {
    await store.set('max-retries', '5', accept);
    await store.set('lease', '30s', accept);
    await store.set('max-retries', '7', accept);
    await close(store);
    const next = await another();
    expect(await next.settings()).toEqual(
      new Map([
        ['max-retries', '7'],
        ['lease', '30s'],
      ]),
    );
    await next.set('max-retries', null, accept);
    await next.set('nobody', null, accept);
    expect(await next.settings()).toEqual(new Map([['lease', '30s']]));
  },

  'the check of a change gets all settings as they would be after it': async ({ store }) => {
    const seen: Map<string, string>[] = [];
    const record = (stored: Map<string, string>): void => void seen.push(new Map(stored));
    await store.set('a', '1', record);
    await store.set('b', '2', record);
    await store.set('a', null, record);
    expect(seen).toEqual([
      new Map([['a', '1']]),
      new Map([
        ['a', '1'],
        ['b', '2'],
      ]),
      new Map([['b', '2']]),
    ]);
  },

  'nothing changes when the check throws': async ({ store, another }) => {
    await store.set('a', '1', accept);
    const problem = new Error('out of range');
    const refuse = (): void => {
      throw problem;
    };
    await expect(store.set('a', '2', refuse)).rejects.toBe(problem);
    await expect(store.set('b', '2', refuse)).rejects.toBe(problem);
    await expect(store.set('a', null, refuse)).rejects.toBe(problem);
    expect(await store.settings()).toEqual(new Map([['a', '1']]));
    expect(await (await another()).settings()).toEqual(new Map([['a', '1']]));
    await store.set('b', '2', accept);
    expect((await store.settings()).size).toBe(2);
  },

  'any text is stored unchanged': async ({ store }) => {
    for (const text of ['', ' 5 ', "it's", 'ü\n🚀', '%', '0x10']) {
      await store.set('key', text, accept);
      expect((await store.settings()).get('key')).toBe(text);
    }
  },
};
