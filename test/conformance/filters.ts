import { expect } from 'bun:test';
import type { JobFilter } from '../../src/core/filter.ts';
import { ending, failedWith, ids, jobSpec, NOW, running } from '../support/jobs.ts';
import type { Case } from './topic.ts';

export const filters: Record<string, Case> = {
  'each filter finds its jobs, newest first': async ({ store }) => {
    const dead = await running(store, 'dead', { maxRetries: 1, name: 'import' });
    await store.settle(ending(dead, failedWith(3), NOW + 1000, { error: "exit code 3: 100% 'gone'" }));
    await store.insert([jobSpec('old', { tags: { team: 'a', x: '1' } })], NOW - 10_000);
    await store.insert([jobSpec('new', { tags: { team: 'a' }, priority: 5, name: 'import' })], NOW);
    const found = async (filter: JobFilter): Promise<string[]> =>
      ids(await store.list(filter, { limit: 10 }));
    expect(await found({ name: 'import' })).toEqual(['new', 'dead']);
    expect(await found({ tags: { team: 'a' } })).toEqual(['new', 'old']);
    expect(await found({ tags: { team: 'a', x: '1' } })).toEqual(['old']);
    expect(await found({ createdBefore: NOW })).toEqual(['old']);
    expect(await found({ error: '100% ‘GONE'.replace('‘', "'") })).toEqual(['dead']);
    expect(await found({ error: '%' })).toEqual(['dead']);
    expect(await found({ error: '_' })).toEqual([]);
    expect(await found({ exitCode: 3 })).toEqual(['dead']);
    expect(await found({ conditions: [{ field: 'priority', operator: '>=', value: 5 }] })).toEqual(['new']);
    expect(await found({ states: ['pending'], name: 'import', queue: 'default' })).toEqual(['new']);
    expect(await found({ name: "' OR 1=1 --" })).toEqual([]);
  },

  'ids are found by their beginning, and a whole id alone': async ({ store }) => {
    await store.insert([jobSpec('ab'), jobSpec('abc'), jobSpec('abd'), jobSpec('b%')], NOW);
    expect(await store.startingWith('ab', 5)).toEqual(['ab']);
    expect(await store.startingWith('a', 2)).toEqual(['ab', 'abc']);
    expect(await store.startingWith('abc', 5)).toEqual(['abc']);
    expect(await store.startingWith('%', 5)).toEqual([]);
    expect(await store.startingWith('b', 5)).toEqual(['b%']);
  },
};
