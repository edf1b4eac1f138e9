import { expect } from 'bun:test';
import { claim, claimOne, ending, failedWith, ids, jobSpec, NOW } from '../support/jobs.ts';
import type { Case } from './topic.ts';

export const orderAndClaim: Record<string, Case> = {
  'jobs of one priority are claimed in the order of their enqueue': async ({ store }) => {
    // The jobs are added within one millisecond, and their ids sort differently.
    for (const id of ['c', 'a', 'd', 'b']) await store.insert([jobSpec(id)], NOW);
    const seen: string[] = [];
    for (let i = 0; i < 4; i++) seen.push((await claimOne(store)).id);
    expect(seen).toEqual(['c', 'a', 'd', 'b']);
  },

  'jobs of higher priority are claimed first within a queue': async ({ store }) => {
    const priorities = [0, -5, 20, 0, 3, 20];
    await store.insert(
      priorities.map((priority, i) => jobSpec(`job-${i}`, { priority })),
      NOW,
    );
    const seen: string[] = [];
    for (const _ of priorities) seen.push((await claimOne(store)).id);
    expect(seen).toEqual(['job-2', 'job-5', 'job-4', 'job-0', 'job-3', 'job-1']);
  },

  'jobs of higher priority are claimed first across queues': async ({ store }) => {
    await store.insert(
      [
        jobSpec('low', { queue: 'x', priority: -10 }),
        jobSpec('normal-1', { queue: 'y' }),
        jobSpec('normal-2', { queue: 'x' }),
        jobSpec('high', { queue: 'z', priority: 10 }),
        jobSpec('normal-3', { queue: 'y' }),
        jobSpec('urgent', { queue: 'x', priority: 20 }),
      ],
      NOW,
    );
    const order = ['urgent', 'high', 'normal-1', 'normal-2', 'normal-3', 'low'];
    expect(ids(await claim(store, { limit: 4 }))).toEqual(order.slice(0, 4));
    expect(ids(await claim(store, { limit: 4 }))).toEqual(order.slice(4));
  },

  'at most `limit` jobs are claimed, and none twice': async ({ store }) => {
    await store.insert([jobSpec('a'), jobSpec('b', { queue: 'x' }), jobSpec('c', { queue: 'y' })], NOW);
    expect(await claim(store, { limit: 0 })).toEqual([]);
    expect(ids(await claim(store, { limit: 2 }))).toEqual(['a', 'b']);
    expect(ids(await claim(store, { limit: 2 }))).toEqual(['c']);
    expect(await claim(store, { limit: 2 })).toEqual([]);
  },

  'jobs are claimed ahead in the same order, beyond the limit': async ({ store }) => {
    await store.insert([jobSpec('a'), jobSpec('b'), jobSpec('c'), jobSpec('d')], NOW);
    expect(ids(await claim(store, { limit: 1, ahead: 2 }))).toEqual(['a', 'b', 'c']);
    expect(ids(await claim(store, { limit: 0, ahead: 2 }))).toEqual(['d']);
  },

  'no job is claimed ahead that is less urgent than another one of the worker': async ({ store }) => {
    await store.insert(
      [
        jobSpec('low', { priority: -5 }),
        jobSpec('high-1', { priority: 5 }),
        jobSpec('high-2', { priority: 5 }),
        jobSpec('high-3', { priority: 5 }),
      ],
      NOW,
    );
    expect(ids(await claim(store, { limit: 1, ahead: 1 }))).toEqual(['high-1', 'high-2']);
    expect(await claim(store, { limit: 0, ahead: 2, aheadPriority: 6 })).toEqual([]);
    expect(ids(await claim(store, { limit: 0, ahead: 2, aheadPriority: 5 }))).toEqual(['high-3']);
    expect(await claim(store, { limit: 0, ahead: 2, aheadPriority: 5 })).toEqual([]);
    expect(ids(await claim(store, { limit: 1, ahead: 2, aheadPriority: 5 }))).toEqual(['low']);
  },

  'no job is claimed ahead from a queue with a limit or a rate': async ({ store }) => {
    await store.setQueue('limited', { concurrency: 10 });
    await store.setQueue('rated', { rate: { jobs: 10, perMs: 1000 } });
    await store.insert(
      [
        jobSpec('limited-1', { queue: 'limited', priority: 9 }),
        jobSpec('limited-2', { queue: 'limited', priority: 8 }),
        jobSpec('rated-1', { queue: 'rated', priority: 7 }),
        jobSpec('free-1', { queue: 'free', priority: 9 }),
        jobSpec('free-2', { queue: 'free', priority: 9 }),
      ],
      NOW,
    );
    expect(ids(await claim(store, { limit: 1, ahead: 1 }))).toEqual(['limited-1', 'free-1']);
    expect(ids(await claim(store, { limit: 0, ahead: 4 }))).toEqual(['free-2']);
    expect(ids(await claim(store, { limit: 2, ahead: 4 }))).toEqual(['limited-2', 'rated-1']);
  },

  'no job is claimed ahead if max-concurrent-jobs is set': async ({ store }) => {
    await store.set('max-concurrent-jobs', '10', () => {});
    await store.insert([jobSpec('a'), jobSpec('b')], NOW);
    expect(ids(await claim(store, { limit: 1, ahead: 4 }))).toEqual(['a']);
    expect(await claim(store, { limit: 0, ahead: 4 })).toEqual([]);
  },

  'only the given queues are served': async ({ store }) => {
    await store.insert(
      [
        jobSpec('a', { queue: 'x', priority: 20 }),
        jobSpec('b', { queue: 'y' }),
        jobSpec('c', { queue: 'z' }),
      ],
      NOW,
    );
    expect(await claim(store, { limit: 5, queues: ['nobody'] })).toEqual([]);
    expect(await claim(store, { limit: 5, queues: [] })).toEqual([]);
    expect(ids(await claim(store, { limit: 5, queues: ['z', 'y'] }))).toEqual(['b', 'c']);
    expect((await store.get('a'))?.state).toBe('pending');
  },

  'a job is not claimed before its time': async ({ store }) => {
    await store.insert([jobSpec('a', { runAt: NOW + 1000 })], NOW);
    expect(await claim(store, {}, NOW)).toEqual([]);
    expect(await claim(store, {}, NOW + 999)).toEqual([]);
    expect(ids(await claim(store, {}, NOW + 1000))).toEqual(['a']);
  },

  'a high-priority job that is due later does not delay a ready one': async ({ store }) => {
    await store.insert([jobSpec('future', { priority: 20, runAt: NOW + 60_000 }), jobSpec('ready')], NOW);
    expect(ids(await claim(store, { limit: 1 }))).toEqual(['ready']);
    expect(await claim(store, { limit: 1 })).toEqual([]);
  },

  'a job that becomes due is ordered by priority, then by its enqueue': async ({ store }) => {
    await store.insert(
      [jobSpec('early', { runAt: NOW + 2000 }), jobSpec('urgent', { priority: 20, runAt: NOW + 3000 })],
      NOW,
    );
    await store.insert([jobSpec('ready')], NOW);
    expect(ids(await claim(store, { limit: 3 }, NOW + 3000))).toEqual(['urgent', 'early', 'ready']);
  },

  'a job with a time in the past is due at once': async ({ store }) => {
    await store.insert([jobSpec('a', { runAt: NOW - 60_000 })], NOW);
    expect(ids(await claim(store))).toEqual(['a']);
  },

  'all due jobs are claimed, even if one promotion cannot move them all': async ({ store }) => {
    const many = Array.from({ length: 1100 }, (_, i) => jobSpec(`job-${i}`, { runAt: NOW + 1 }));
    await store.insert(many, NOW);
    const taken = new Set<string>();
    for (let batch = await claim(store, { limit: 400 }, NOW + 1); batch.length > 0; ) {
      for (const job of batch) taken.add(job.id);
      batch = await claim(store, { limit: 400 }, NOW + 1);
    }
    expect(taken.size).toBe(1100);
  },

  'a claimed job is processing, held by its worker, with an open attempt': async ({ store }) => {
    await store.insert([jobSpec('a')], NOW);
    const job = await claimOne(store, 'w7', NOW + 250);
    expect(job).toMatchObject({
      id: 'a',
      state: 'processing',
      workerId: 'w7',
      startedAt: NOW + 250,
      ordinal: 1,
    });
    expect(job).toMatchObject({ attempts: 0, dueAt: null, endReason: null });
    const { claim: held, ordinal, endReason, otherHost, otherBoot, ...plain } = job;
    expect([await store.get('a'), otherBoot]).toEqual([plain, false]);
    expect(await store.attempts('a')).toEqual([
      {
        ...{
          number: held.attempt,
          ordinal,
          workerId: 'w7',
          startedAt: NOW + 250,
          finishedAt: null,
          durationMs: null,
          why: endReason,
        },
        ...{ exitCode: null, error: null, outputBytes: 0, truncated: false, leftBehind: [] },
        otherHost,
        otherDirectory: null,
      },
    ]);
  },

  'every claim of a job has a higher token and attempt number': async ({ store }) => {
    await store.insert([jobSpec('a', { maxRetries: 9 })], NOW);
    let now = NOW;
    let last = { token: 0, attempt: 0 };
    for (const outcome of [
      failedWith(1),
      { why: 'never-started' },
      { why: 'lost' },
      { why: 'stopped' },
      failedWith(2),
    ] as const) {
      const job = await claimOne(store, 'w1', now);
      expect(job.claim.token).toBeGreaterThan(last.token);
      expect(job.claim.attempt).toBeGreaterThan(last.attempt);
      last = job.claim;
      expect(await store.settle(ending(job, outcome, now))).toBe('applied');
      now += 1_000_000;
    }
  },

  'two connections that claim at the same time never share a job': async ({ store, another }) => {
    const other = await another();
    const all = Array.from({ length: 60 }, (_, i) => `job-${i}`);
    await store.insert(
      all.map((id, i) => jobSpec(id, { queue: `q${i % 3}` })),
      NOW,
    );
    const drain = async (from: typeof store, workerId: string): Promise<string[]> => {
      const taken: string[] = [];
      for (;;) {
        const batch = await claim(from, { workerId, limit: 3 });
        if (batch.length === 0) return taken;
        taken.push(...ids(batch));
        await Promise.resolve();
      }
    };
    const [one, two] = await Promise.all([drain(store, 'w1'), drain(other, 'w2')]);
    expect([...one, ...two].sort()).toEqual(all.sort());
    const held = await store.runningJobs();
    expect(ids(held.filter((job) => job.workerId === 'w1')).sort()).toEqual(one.sort());
  },
};
