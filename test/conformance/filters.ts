import { expect } from 'bun:test';
import { SEARCHED_JOBS, type StoreFilter } from '../../src/core/jobs/filter.ts';
import type { Job } from '../../src/core/jobs/job.ts';
import { type WaitingSelection, waitingReason } from '../../src/core/jobs/waiting-reason.ts';
import type { Store } from '../../src/store/store.ts';
import { claim, ending, failedWith, ids, jobSpec, NOW, startJob } from '../support/jobs.ts';
import type { Case } from './topic.ts';

/** Adds jobs to the queues x and y that wait for every possible reason. Their ids have the form `queue-reason`. */
async function addWaitingJobs(store: Store): Promise<void> {
  for (const queue of ['x', 'y']) {
    const addFailed = async (id: string): Promise<void> => {
      const job = await startJob(store, id, { queue, priority: 9 });
      await store.settle(ending(job, failedWith(1), NOW + 1e6));
    };
    await addFailed(`${queue}-retrying`);
    await addFailed(`${queue}-held-failed`);
    await store.insert(
      [
        jobSpec(`${queue}-ready`, { queue }),
        jobSpec(`${queue}-scheduled`, { queue, runAt: NOW + 1e9 }),
        jobSpec(`${queue}-promotable`, { queue, runAt: NOW + 1000 }),
        jobSpec(`${queue}-held`, { queue }),
        jobSpec(`${queue}-blocked`, { queue, dependsOn: [{ id: `${queue}-ready`, on: 'ok' }] }),
      ],
      NOW,
    );
    await store.hold([`${queue}-held`, `${queue}-held-failed`], NOW);
  }
}

const NO_REASON = {
  ...{ now: NOW + 2000, held: false, blocked: false, scheduled: false, retrying: false },
  ...{ due: [] as string[], unmatched: [], noMatch: false },
};

export const filters: Record<string, Case> = {
  'waiting jobs are selected by their own reasons, and due ones by queue': async ({ store }) => {
    await addWaitingJobs(store);
    const find = async (waiting: Partial<WaitingSelection>, more: StoreFilter = {}): Promise<string[]> => {
      const filter = { ...more, waiting: { ...NO_REASON, ...waiting } };
      const all = ids(await store.list(filter, { limit: 100 }));
      expect(await store.count(filter, 100)).toBe(all.length);
      // Pages of every size find the same jobs once each.
      for (const limit of [1, 3]) {
        const seen: string[] = [];
        let page = await store.list(filter, { limit });
        for (; page.length > 0; page = await store.list(filter, { limit, before: page.at(-1)!.number }))
          seen.push(...ids(page));
        expect(seen).toEqual(all);
      }
      return all;
    };
    expect(await find({})).toEqual([]);
    expect(await find({ held: true })).toEqual(['y-held', 'y-held-failed', 'x-held', 'x-held-failed']);
    expect(await find({ blocked: true })).toEqual(['y-blocked', 'x-blocked']);
    expect(await find({ scheduled: true })).toEqual(['y-scheduled', 'x-scheduled']);
    expect(await find({ retrying: true })).toEqual(['y-retrying', 'x-retrying']);
    // A job that is due counts as ready, even if no claim has promoted it.
    expect(await find({ due: ['x', 'gone'] })).toEqual(['x-promotable', 'x-ready']);
    expect(await find({ due: ['x'], now: NOW })).toEqual(['x-ready']);
    expect(await find({ scheduled: true, due: ['x'] })).toEqual([
      ...['y-scheduled', 'x-promotable', 'x-scheduled', 'x-ready'],
    ]);
    expect(await find({ held: true, blocked: true, due: ['y'] }, { queue: 'y' })).toEqual([
      ...['y-blocked', 'y-held', 'y-promotable', 'y-ready', 'y-held-failed'],
    ]);
    expect(await find({ held: true }, { states: ['failed'] })).toEqual(['y-held-failed', 'x-held-failed']);
    expect(await find({ held: true }, { states: ['dead'] })).toEqual([]);
    expect(await find({ held: true, due: ['x'] }, { text: 'x-' })).toEqual([
      ...['x-held', 'x-promotable', 'x-ready', 'x-held-failed'],
    ]);
    expect(await find({ held: true, due: ['x'] }, { queue: 'nowhere' })).toEqual([]);
  },

  'after a clock was set back, a ready job stays ready for reasons, filters, counts and claims': async ({
    store,
  }) => {
    const now = NOW - 3_600_000;
    const [added] = await store.insert([jobSpec('ready')], NOW);
    const failed = await startJob(store, 'failed', { priority: 9 });
    await store.settle(ending(failed, failedWith(1), NOW));
    // This claim makes the failed job ready and takes another one.
    await store.insert([jobSpec('first', { priority: 99 })], NOW);
    expect(ids(await claim(store, {}, NOW + 1e6))).toEqual(['first']);
    await store.insert([jobSpec('later', { runAt: NOW })], now);
    const reasonOf = (job: Job) => waitingReason(job, { now, queues: new Map(), otherQueues: 'no_worker' });
    expect(reasonOf(added!)).toBe('no_worker');
    const find = async (waiting: Partial<WaitingSelection>) =>
      (await store.list({ waiting: { ...NO_REASON, now, ...waiting } }, { limit: 9 })).map((job) => [
        job.id,
        reasonOf(job),
      ]);
    expect(await find({ due: ['default'] })).toEqual([
      ['failed', 'no_worker'],
      ['ready', 'no_worker'],
    ]);
    expect(await find({ scheduled: true, retrying: true })).toEqual([['later', 'scheduled']]);
    expect(await store.setAsideCounts(now)).toEqual([
      { queue: 'default', held: 0, blocked: 0, retrying: 0, scheduled: 1 },
    ]);
    expect(ids(await claim(store, { limit: 9 }, now))).toEqual(['failed', 'ready']);
  },

  'a search for the due jobs of a queue does not scan the jobs set aside': async ({ store }) => {
    const others = Array.from({ length: 200 }, (_, i) =>
      jobSpec(`other-${i}`, i % 2 ? { runAt: NOW + 1e9 } : { dependsOn: [{ id: 'ready', on: 'ok' }] }),
    );
    await store.insert(
      [
        ...[
          jobSpec('ready'),
          jobSpec('urgent', { priority: 9 }),
          jobSpec('promotable', { runAt: NOW + 1000 }),
        ],
        ...others,
        jobSpec('idle', { queue: 'idle', runAt: NOW + 1e9 }),
      ],
      NOW,
    );
    const waiting = { ...NO_REASON, due: ['default', 'idle'] };
    for (const filter of [
      { waiting },
      { waiting, queue: 'default' },
      { waiting, states: ['pending'] as const },
    ]) {
      expect(await store.scanEnd(filter, 10)).toBe(0);
      expect(ids(await store.list(filter, { limit: 10 }))).toEqual(['promotable', 'urgent', 'ready']);
      expect(await store.count(filter, 10)).toBe(3);
    }
    expect(await store.scanEnd({ waiting: { ...waiting, due: ['idle'] } }, 1)).toBe(0);
    expect(await store.scanEnd({ waiting: { ...waiting, held: true } }, 10)).toBe(0);
  },

  'due jobs are found, however many priorities they have and however many are not ready yet': async ({
    store,
  }) => {
    const specs = Array.from({ length: 40 }, (_, i) => jobSpec(`p${i}`, { priority: i, queue: 'many' }));
    await store.insert(specs, NOW);
    const due = function* () {
      for (let i = 0; i < 5100; i++) yield jobSpec(`d${i}`, { runAt: NOW + 1000, queue: 'due' });
    };
    await store.insert(due(), NOW, () => null);
    await store.insert([jobSpec('later', { runAt: NOW + 1e9, queue: 'due' })], NOW);
    const waiting = { ...NO_REASON, due: ['many', 'due'] };
    expect(await store.count({ waiting }, 10_000)).toBe(5140);
    expect(await store.count({ waiting, states: ['failed'] }, 10_000)).toBe(0);
    expect(ids(await store.list({ waiting, queue: 'due' }, { limit: 2 }))).toEqual(['d5099', 'd5098']);
    expect(ids(await store.list({ waiting, queue: 'many' }, { limit: 2 }))).toEqual(['p39', 'p38']);
  },

  'setAsideCounts counts the held, blocked, retrying and scheduled jobs of each queue': async ({ store }) => {
    expect(await store.setAsideCounts(NOW)).toEqual([]);
    await addWaitingJobs(store);
    const x = { queue: 'x', held: 2, blocked: 1, retrying: 1, scheduled: 2 };
    expect(await store.setAsideCounts(NOW)).toEqual([x, { ...x, queue: 'y' }]);
    expect((await store.setAsideCounts(NOW + 2000))[0]).toEqual({ ...x, scheduled: 1 });
    expect((await store.setAsideCounts(NOW + 1e10))[0]).toEqual({ ...x, scheduled: 0, retrying: 0 });
  },

  'each filter finds its jobs, newest first': async ({ store }) => {
    const dead = await startJob(store, 'dead', { maxRetries: 1, name: 'import' });
    await store.settle(ending(dead, failedWith(3), NOW + 1000, { error: "exit code 3: 100% 'gone'" }));
    await store.insert([jobSpec('old', { tags: { team: 'a', x: '1' } })], NOW - 10_000);
    await store.insert([jobSpec('new', { tags: { team: 'a' }, priority: 5, name: 'import' })], NOW);
    const find = async (filter: StoreFilter): Promise<string[]> =>
      ids(await store.list(filter, { limit: 10 }));
    expect(await find({ name: 'import' })).toEqual(['new', 'dead']);
    expect(await find({ tags: { team: 'a' } })).toEqual(['new', 'old']);
    expect(await find({ tags: { team: 'a', x: '1' } })).toEqual(['old']);
    expect(await find({ createdBefore: NOW })).toEqual(['old']);
    expect(await find({ error: "100% 'GONE" })).toEqual(['dead']);
    expect(await find({ error: '%' })).toEqual(['dead']);
    expect(await find({ error: '_' })).toEqual([]);
    expect(await find({ exitCode: 3 })).toEqual(['dead']);
    expect(await find({ conditions: [{ field: 'priority', operator: '>=', value: 5 }] })).toEqual(['new']);
    expect(await find({ states: ['pending'], name: 'import', queue: 'default' })).toEqual(['new']);
    expect(await find({ name: "' OR 1=1 --" })).toEqual([]);
  },

  'a text is found in id, name, command and tags, ignoring case, and % and _ are literal': async ({
    store,
  }) => {
    await store.insert(
      [jobSpec('Alpha', { command: 'echo 100%' }), jobSpec('b_c', { tags: { k: 'Tag' } })],
      NOW,
    );
    await store.insert(
      [jobSpec('d', { name: 'Kind', queue: 'other' }), jobSpec('e', { command: 'a\\b' })],
      NOW,
    );
    const find = async (text: string, more: StoreFilter = {}): Promise<string[]> =>
      ids(await store.list({ ...more, text }, { limit: 10 }));
    expect(await find('ALPHA')).toEqual(['Alpha']);
    expect(await find('%')).toEqual(['Alpha']);
    expect(await find('_')).toEqual(['b_c']);
    expect(await find('\\')).toEqual(['e']);
    expect(await find('tag')).toEqual(['b_c']);
    expect(await find('kind')).toEqual(['d']);
    expect(await find('kind', { queue: 'other', states: ['pending'] })).toEqual(['d']);
    expect(await find('kind', { queue: 'default' })).toEqual([]);
    expect(await find('kind', { states: ['dead'] })).toEqual([]);
    expect(await find('kind', { name: 'Kind' })).toEqual(['d']);
    // The text must not match across the end of one field and the start of the next.
    expect(await find('alphaecho')).toEqual([]);
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
    const filters: StoreFilter[] = [
      {},
      { queue: 'third' },
      { states: ['pending'] },
      { states: ['pending', 'cancelled'], queue: 'default' },
      { name: 'fifth' },
      { name: 'fifth', states: ['pending'], queue: 'third' },
      { text: 'j' },
      { text: 'j1', queue: 'third', states: ['pending'] },
      { text: 'j', name: 'fifth' },
      { waiting: { ...NO_REASON, due: ['third'] } },
      { waiting: { ...NO_REASON, due: ['default'], held: true }, name: 'fifth' },
    ];
    for (const filter of filters) {
      const all = await store.list(filter, { limit: 100 });
      for (const rangeSize of [1, 2, 7, 100]) {
        const seen: string[] = [];
        let counted = 0;
        for (let before = Number.MAX_SAFE_INTEGER; ; ) {
          const above = await store.scanEnd(filter, rangeSize, before);
          const part = await store.list(filter, { limit: 100, before, above });
          // A range may contain one more job for each queue and state.
          expect(part.length).toBeLessThanOrEqual(rangeSize + 6);
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
    const specs = function* () {
      for (let i = 0; i <= SEARCHED_JOBS; i++) yield jobSpec(`n${i}`, { command: 'true' });
    };
    await store.insert(specs(), NOW, () => null);
    expect(ids(await store.list({ text: 'n1' }, { limit: 1, before: 3 }))).toEqual(['n1']);
    expect(await store.list({ text: 'n0' }, { limit: 1, before: 3 })).toEqual([]);
    expect(await store.count({ text: 'n' }, 2 * SEARCHED_JOBS)).toBe(SEARCHED_JOBS);
    expect(await store.scanEnd({ text: 'n' }, SEARCHED_JOBS - 1)).toBe(2);
    expect(await store.scanEnd({ text: 'n' }, SEARCHED_JOBS)).toBe(0);
    expect(await store.scanEnd({}, SEARCHED_JOBS)).toBe(1);
  },

  'deadJobs returns the dead jobs with their errors': async ({ store }) => {
    for (const [id, over] of [
      ['a', { name: 'kind' }],
      ['b', { queue: 'other' }],
      ['c', {}],
    ] as const) {
      const dead = await startJob(store, id, { maxRetries: 1, ...over });
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

  'a text with a NUL character finds nothing': async ({ store }) => {
    await store.insert([jobSpec('ab', { name: 'n', tags: { k: 'v' } })], NOW);
    expect(await store.get('a\0')).toBeNull();
    expect(await store.idsStartingWith('a\0', 5)).toEqual([]);
    for (const filter of [{ name: 'n\0' }, { queue: 'default\0' }, { error: '\0' }, { tags: { k: 'v\0' } }])
      expect(await store.list(filter, { limit: 5 })).toEqual([]);
  },

  'ids are found by a prefix, and a whole id finds only itself': async ({ store }) => {
    await store.insert([jobSpec('ab'), jobSpec('abc'), jobSpec('abd'), jobSpec('b%')], NOW);
    expect(await store.idsStartingWith('ab', 5)).toEqual(['ab']);
    expect(await store.idsStartingWith('a', 2)).toEqual(['ab', 'abc']);
    expect(await store.idsStartingWith('abc', 5)).toEqual(['abc']);
    expect(await store.idsStartingWith('%', 5)).toEqual([]);
    expect(await store.idsStartingWith('b', 5)).toEqual(['b%']);
  },
};
