import { expect } from 'bun:test';
import { type JobFilter, SEARCHED } from '../../src/core/filter.ts';
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

  'a text is found in id, name, command, tags and last error, ignoring case, and % and _ are literal':
    async ({ store }) => {
      await store.insert(
        [jobSpec('Alpha', { command: 'echo 100%' }), jobSpec('b_c', { tags: { k: 'Tag' } })],
        NOW,
      );
      await store.insert(
        [jobSpec('d', { name: 'Kind', queue: 'other' }), jobSpec('e', { command: 'a\\b' })],
        NOW,
      );
      const found = async (text: string, more: JobFilter = {}): Promise<string[]> =>
        ids(await store.list({ ...more, text }, { limit: 10 }));
      expect(await found('ALPHA')).toEqual(['Alpha']);
      expect(await found('%')).toEqual(['Alpha']);
      expect(await found('_')).toEqual(['b_c']);
      expect(await found('\\')).toEqual(['e']);
      expect(await found('tag')).toEqual(['b_c']);
      expect(await found('kind')).toEqual(['d']);
      expect(await found('kind', { queue: 'other', states: ['pending'] })).toEqual(['d']);
      expect(await found('kind', { queue: 'default' })).toEqual([]);
      expect(await found('kind', { states: ['dead'] })).toEqual([]);
      expect(await found('kind', { name: 'Kind' })).toEqual(['d']);
      // The text must not match across the end of one field and the start of the next.
      expect(await found('alphaecho')).toEqual([]);
      expect(await store.count({ text: 'a' }, 10)).toBe(3);
    },

  'lists and counts can be split into ranges, whose ends scanEnd returns': async ({ store }) => {
    const specs = Array.from({ length: 30 }, (_, i) =>
      jobSpec(`j${i}`, {
        queue: i % 3 === 0 ? 'third' : 'default',
        ...(i % 5 === 0 ? { name: 'fifth' } : {}),
      }),
    );
    await store.insert(specs, NOW);
    await store.cancel(['j29', 'j2'], NOW);
    const filters: JobFilter[] = [
      {},
      { queue: 'third' },
      { states: ['pending'] },
      { states: ['pending', 'cancelled'], queue: 'default' },
      { name: 'fifth' },
      { name: 'fifth', states: ['pending'], queue: 'third' },
      { text: 'j' },
      { text: 'j1', queue: 'third', states: ['pending'] },
      { text: 'j', name: 'fifth' },
    ];
    for (const filter of filters) {
      const all = await store.list(filter, { limit: 100 });
      for (const many of [1, 2, 7, 100]) {
        const seen: string[] = [];
        let counted = 0;
        for (let before = Number.MAX_SAFE_INTEGER; ; ) {
          const above = await store.scanEnd(filter, many, before);
          const part = await store.list(filter, { limit: 100, before, above });
          // A range may contain one more job for each queue and state.
          expect(part.length).toBeLessThanOrEqual(many + 6);
          seen.push(...ids(part));
          counted += await store.count(filter, 100, { before, above });
          if (above === 0) break;
          expect(above).toBeLessThan(before);
          before = above + 1;
        }
        expect(seen).toEqual(ids(all));
        expect(counted).toBe(all.length);
      }
    }
    expect(await store.scanEnd({ queue: 'nowhere' }, 1)).toBe(0);
  },

  'a text search covers the newest jobs only, and scanEnd stops there': async ({ store }) => {
    const many = function* () {
      for (let i = 0; i <= SEARCHED; i++) yield jobSpec(`n${i}`, { command: 'true' });
    };
    await store.insert(many(), NOW, () => null);
    expect(ids(await store.list({ text: 'n1' }, { limit: 1, before: 3 }))).toEqual(['n1']);
    expect(await store.list({ text: 'n0' }, { limit: 1, before: 3 })).toEqual([]);
    expect(await store.count({ text: 'n' }, 2 * SEARCHED)).toBe(SEARCHED);
    expect(await store.scanEnd({ text: 'n' }, SEARCHED - 1)).toBe(2);
    expect(await store.scanEnd({ text: 'n' }, SEARCHED)).toBe(0);
    expect(await store.scanEnd({}, SEARCHED)).toBe(1);
  },

  'deadJobs returns the dead jobs with their errors': async ({ store }) => {
    for (const [id, over] of [
      ['a', { name: 'kind' }],
      ['b', { queue: 'other' }],
      ['c', {}],
    ] as const) {
      const dead = await running(store, id, { maxRetries: 1, ...over });
      await store.settle(ending(dead, failedWith(3), NOW + 1000, { error: `no ${id}` }));
    }
    await store.insert([jobSpec('d'), jobSpec('e')], NOW);
    await store.cancel(['e'], NOW);
    for (const retried of [[], ['b']]) {
      await store.retry(retried, ['dead'], NOW);
      for (const page of [{ limit: 10 }, { limit: 1 }, { limit: 10, before: 2 }]) {
        const jobs = await store.list({ states: ['dead'] }, page);
        expect(await store.deadJobs(page.limit, page.before)).toEqual(
          jobs.map(({ number, id, queue, name, lastError, finishedAt }) => ({
            ...{ number, id, queue, name, error: lastError, at: finishedAt! },
          })),
        );
      }
    }
  },

  'ids are found by a prefix, and a whole id finds only itself': async ({ store }) => {
    await store.insert([jobSpec('ab'), jobSpec('abc'), jobSpec('abd'), jobSpec('b%')], NOW);
    expect(await store.startingWith('ab', 5)).toEqual(['ab']);
    expect(await store.startingWith('a', 2)).toEqual(['ab', 'abc']);
    expect(await store.startingWith('abc', 5)).toEqual(['abc']);
    expect(await store.startingWith('%', 5)).toEqual([]);
    expect(await store.startingWith('b', 5)).toEqual(['b%']);
  },
};
