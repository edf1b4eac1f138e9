import { expect } from 'bun:test';
import type { ClaimedJob, JobSpec, Uniqueness } from '../../src/core/jobs/job.ts';
import type { Outcome } from '../../src/core/rules/decide.ts';
import type { Settlement } from '../../src/store/contract/claims.ts';
import type { Store } from '../../src/store/store.ts';
import {
  claim,
  claimOne,
  claimRequest,
  ending,
  failedWith,
  ids,
  jobSpec,
  NOW,
  succeeded,
} from '../support/jobs.ts';
import type { Case } from './topic.ts';

type Row = Record<string, unknown>;

const key = (while_: Uniqueness['while'], forMs: number | null = null): Partial<JobSpec> => ({
  unique: { key: `${while_}-${forMs}-${++keys}`, while: while_, forMs },
});
let keys = 0;
/** Jobs of every kind, as they are before they are claimed. */
const KINDS: Record<string, Partial<JobSpec>> = {
  plain: {},
  delayed: { runAt: NOW + 100 },
  urgent: { priority: 7, tags: { a: 'b' }, env: { A: 'b' }, queue: 'other' },
  'at-most-once': { policy: { atMostOnce: true } },
  'active key': key('active'),
  'pending key': key('pending'),
  'timed key': key('active', 3_600_000),
};
/** What has happened to jobs, each with a pending key and without one, before they became ready again. */
const HISTORIES: Record<string, (store: Store, job: ClaimedJob) => Promise<unknown>> = {
  failed: (store, job) => settle(store, job, failedWith(3)),
  stopped: (store, job) => settle(store, job, { why: 'stopped' }),
  lost: (store, job) => settle(store, job, { why: 'lost' }),
  'stopped and released': async (store, job) => {
    await settle(store, job, { why: 'stopped' });
    await store.hold([job.id], NOW + 50);
    await store.release([job.id], NOW + 60);
  },
  'failed and retried': async (store, job) => {
    await settle(store, job, failedWith(3));
    await store.retry([job.id], ['failed'], NOW + 70);
  },
};

const settle = (store: Store, job: ClaimedJob, outcome: Outcome) =>
  store.settle(ending(job, outcome, NOW + 40, { durationMs: 7 }));

/** Inserts jobs with every kind of history and of every kind. Returns their ids in the order of their claims. */
async function insertEveryKind(store: Store): Promise<string[]> {
  for (const [history, apply] of Object.entries(HISTORIES))
    for (const [id, fields] of [
      [history, {}],
      [`${history}, with a key`, key('pending')],
    ] as const) {
      await store.insert([jobSpec(id, { maxRetries: 5, ...fields })], NOW);
      const [job] = await claim(store, { limit: 1 }, NOW + 10);
      await apply(store, job!);
      await store.hold([id], NOW + 80);
    }
  const before = Object.keys(HISTORIES).flatMap((id) => [id, `${id}, with a key`]);
  await store.insert(
    Object.entries(KINDS).map(([id, fields]) => jobSpec(id, fields)),
    NOW,
  );
  await store.release(before, NOW + 90);
  return ['urgent', ...before, ...Object.keys(KINDS).filter((id) => id !== 'urgent')];
}

/** Returns all columns of all jobs and attempts, except those that rise with every change. */
async function rows(store: Store): Promise<Row[]> {
  const found: Row[] = [];
  await store.dump(({ table, row }) => {
    const { token: _, updated_at: __, ...columns } = row as Row;
    if (table === 'job' || table === 'attempt') found.push(columns);
  });
  return found;
}

const neverStarted = (job: ClaimedJob): Settlement => ending(job, { why: 'never-started' }, NOW + 10_100);

/** The ways in which a job whose command never started goes back to its queue. */
const WAYS: Record<string, (store: Store, jobs: ClaimedJob[]) => Promise<unknown>> = {
  'given back by its worker': (store, jobs) =>
    store.claim(claimRequest({ limit: 0, settlements: jobs.map(neverStarted) }), NOW + 10_100),
  'settled alone': async (store, jobs) => {
    for (const job of jobs) await store.settle(neverStarted(job));
  },
  'put back by the worker that adopted it': async (store, jobs) => {
    for (const job of jobs) await store.settle(neverStarted((await store.adopt(job.claim, 'w2'))!));
  },
};

export const giveBack: Record<string, Case> = {
  'a job that was claimed and not started gets back every column that it had': async ({ store }) => {
    const all = await insertEveryKind(store);
    const isReady = ({ phase }: Row): boolean => phase === 'waiting';
    const before = (await rows(store)).map((row) => (isReady(row) ? { ...row, phase: 'ready' } : row));
    const waiting = await store.oldestWaiting(NOW + 10_000);
    const counts = await store.counts();
    for (const [way, giveBackAll] of Object.entries(WAYS)) {
      const jobs = await claim(store, { limit: 100 }, NOW + 10_000);
      expect([way, ids(jobs)]).toEqual([way, all]);
      await giveBackAll(store, jobs);
      expect([way, await rows(store)]).toEqual([way, before]);
    }
    expect(await store.oldestWaiting(NOW + 10_000)).toEqual(waiting);
    expect(await store.counts()).toEqual(counts);
    expect(counts).toContainEqual(expect.objectContaining({ queue: 'default', state: 'failed', jobs: 2 }));
  },

  'a job that is given back does not take its key from a job that was added meanwhile': async ({ store }) => {
    const pending = key('pending');
    await store.insert([jobSpec('first', pending)], NOW);
    const job = await claimOne(store);
    await store.insert([jobSpec('second', pending)], NOW);
    expect(await store.settle(neverStarted(job))).toBe('applied');
    expect(await store.insert([jobSpec('third', pending)], NOW)).toMatchObject([{ id: 'second' }]);
    expect(ids(await claim(store, { limit: 3 }))).toEqual(['first', 'second']);
  },

  'an attempt that has ended does not keep what the job was before': async ({ store }) => {
    await store.insert([jobSpec('a', key('pending'))], NOW);
    await store.settle(ending(await claimOne(store), succeeded));
    const attempts = (await rows(store)).filter((row) => 'job_before' in row);
    expect(attempts).toMatchObject([{ job_before: null }]);
  },

  'no job is claimed ahead that is not like all others, nor one after it': async ({ store }) => {
    await store.setQueue('limited', { concurrency: 10 });
    const retried = jobSpec('retried');
    await store.insert([retried], NOW);
    await store.settle(ending(await claimOne(store), failedWith(1), NOW - 60_000));
    await store.insert([jobSpec('a'), jobSpec('b')], NOW);
    expect(await claim(store, { limit: 0, ahead: 5 })).toEqual([]);
    expect(ids(await claim(store, { limit: 1, ahead: 5 }))).toEqual(['retried', 'a', 'b']);
    // With a second queue, a claim looks at the jobs in another way.
    for (const fields of [
      { policy: { atMostOnce: true } },
      { unique: { key: 'k', while: 'active', forMs: null } },
      { unique: { key: 'l', while: 'pending', forMs: null } },
      { queue: 'limited' },
    ] as const)
      for (const queue of ['default', 'other']) {
        const own = (id: string): JobSpec => jobSpec(`${id} ${queue} ${JSON.stringify(fields)}`, { queue });
        const [a, b, d] = [own('a'), own('b'), own('d')];
        const c = { ...jobSpec(`c ${queue} ${JSON.stringify(fields)}`), ...fields };
        await store.insert([a, b, c, d], NOW);
        expect(ids(await claim(store, { limit: 1, ahead: 5 }))).toEqual([a.id, b.id]);
        expect(await claim(store, { limit: 0, ahead: 5 })).toEqual([]);
        const taken = await claim(store, { limit: 1, ahead: 5 });
        expect(ids(taken)).toEqual([c.id, d.id]);
        for (const job of taken) await store.settle(ending(job, succeeded));
      }
  },
};
