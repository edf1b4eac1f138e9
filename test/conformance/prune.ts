import { expect } from 'bun:test';
import type { JobSpec } from '../../src/core/jobs/job.ts';
import type { Outcome } from '../../src/core/rules/decide.ts';
import type { Retention } from '../../src/core/rules/retention.ts';
import type { Store } from '../../src/store/store.ts';
import { claimOne, ending, failedWith, ids, jobSpec, NOW, startJob, succeeded } from '../support/jobs.ts';
import type { Case } from './topic.ts';

const keep = (over: Partial<Retention>): Retention => ({ ageMs: null, count: null, bytes: null, ...over });

/** Adds a job that ended at time `at` with `bytes` of output, in a file or in the store. Returns the attempt's number. */
async function addEnded(
  store: Store,
  id: string,
  at: number,
  { bytes = 0, inFile = false, outcome = succeeded, ...over }: EndedJobOptions = {},
): Promise<number> {
  const { claim } = await startJob(store, id, { maxRetries: 1, ...over });
  const output = { bytes, truncated: false, kept: inFile ? null : Buffer.alloc(bytes) };
  const job = { ...(await store.runningJobs()).find((one) => one.id === id)! };
  await store.settle(ending(job, outcome, at, { output }));
  return claim.attempt;
}

interface EndedJobOptions extends Partial<JobSpec> {
  bytes?: number;
  inFile?: boolean;
  outcome?: Outcome;
}

const remaining = async (store: Store): Promise<string[]> =>
  ids(await store.list({}, { limit: 1000 })).sort();

export const prune: Record<string, Case> = {
  'pruning by age removes jobs in the order of their end, not of their enqueue': async ({ store }) => {
    await store.insert([jobSpec('waited', { runAt: NOW + 500 })], NOW);
    for (const [i, id] of ['a', 'b', 'c'].entries()) await addEnded(store, id, NOW + 1000 * i);
    const job = await claimOne(store, 'w1', NOW + 600);
    await store.settle(ending(job, succeeded, NOW + 5000));
    expect(await store.prunable('completed', keep({ ageMs: 1000 }), NOW + 2500)).toEqual({
      jobs: 2,
      bytes: 0,
    });
    expect(await store.prune('completed', keep({ ageMs: 1000 }), NOW + 2500)).toMatchObject({ jobs: 2 });
    expect(await remaining(store)).toEqual(['c', 'waited']);
    expect(await store.prune('completed', keep({ ageMs: 1000 }), NOW + 2500)).toMatchObject({ jobs: 0 });
  },

  'pruning by number keeps the newest jobs': async ({ store }) => {
    for (const [i, id] of ['a', 'b', 'c', 'd'].entries()) await addEnded(store, id, NOW + i);
    expect(await store.prunable('completed', keep({ count: 1 }), NOW)).toEqual({ jobs: 3, bytes: 0 });
    expect(await store.prune('completed', keep({ count: 1 }), NOW)).toMatchObject({ jobs: 3 });
    expect(await remaining(store)).toEqual(['d']);
  },

  'the size of a job includes its stdin, and large jobs are pruned in small steps': async ({ store }) => {
    const stdin = 'x'.repeat(600_000);
    for (const [i, id] of ['a', 'b', 'c'].entries()) await addEnded(store, id, NOW + i, { stdin, bytes: 10 });
    expect(await store.prunable('completed', keep({ bytes: 700_000 }), NOW)).toEqual({
      jobs: 2,
      bytes: 1_200_020,
    });
    const one = { jobs: 1, bytes: 600_010 };
    expect(await store.prune('completed', keep({ bytes: 700_000 }), NOW)).toMatchObject(one);
    expect(await store.prune('completed', keep({ bytes: 700_000 }), NOW)).toMatchObject(one);
    expect(await store.prune('completed', keep({ bytes: 700_000 }), NOW)).toMatchObject({ jobs: 0 });
    expect(await remaining(store)).toEqual(['c']);
  },

  'pruning by size counts output in files and in the store, but not dropped output': async ({ store }) => {
    await addEnded(store, 'file', NOW, { bytes: 50_000, inFile: true });
    await addEnded(store, 'kept', NOW + 1, { bytes: 10_000 });
    const job = await startJob(store, 'cut');
    const output = { bytes: 9_000_000, truncated: true, kept: null, remainingBytes: 60_000 };
    await store.settle(ending(job, succeeded, NOW + 2, { output }));
    const limit = keep({ bytes: 75_000 });
    expect(await store.prunable('completed', limit, NOW)).toEqual({ jobs: 1, bytes: 50_000 });
    expect(await store.prune('completed', limit, NOW)).toMatchObject({ jobs: 1, bytes: 50_000 });
    expect(await remaining(store)).toEqual(['cut', 'kept']);
    expect(await store.prune('completed', keep({ bytes: 0 }), NOW)).toMatchObject({ jobs: 2, bytes: 70_000 });
  },

  'the size of a job includes every attempt, whichever state the job ended in': async ({ store }) => {
    const withOutput = { output: { bytes: 5000, truncated: false, kept: null } };
    await store.settle(ending(await startJob(store, 'a', { maxRetries: 2 }), failedWith(1), NOW, withOutput));
    await store.settle(
      ending(await claimOne(store, 'w1', NOW + 9000), failedWith(1), NOW + 9000, withOutput),
    );
    expect(await store.prunable('dead', keep({ count: 0 }), NOW)).toEqual({ jobs: 1, bytes: 10_000 });
    await store.retry(['a'], ['dead'], NOW);
    expect(await store.prunable('dead', keep({ count: 0 }), NOW)).toEqual({ jobs: 0, bytes: 0 });
    await store.cancel(['a'], NOW);
    expect(await store.prune('cancelled', keep({ count: 0 }), NOW)).toMatchObject({ jobs: 1, bytes: 10_000 });
  },

  'only jobs of the given state are pruned, and never one that waits or runs': async ({ store }) => {
    await addEnded(store, 'done', NOW);
    await addEnded(store, 'dead', NOW, { outcome: failedWith(1) });
    await store.insert([jobSpec('cancelled')], NOW);
    await store.cancel(['cancelled'], NOW);
    await addEnded(store, 'failed', NOW, { outcome: failedWith(1), maxRetries: 2 });
    await startJob(store, 'runs');
    await store.insert([jobSpec('ready'), jobSpec('later', { runAt: NOW + 1 }), jobSpec('held')], NOW);
    await store.hold(['held'], NOW);
    const all = await remaining(store);
    for (const state of ['completed', 'cancelled', 'dead'] as const) {
      expect(await store.prune(state, keep({ count: 0, ageMs: 1, bytes: 0 }), NOW + 1e6)).toMatchObject({
        jobs: 1,
      });
    }
    const gone = ['done', 'dead', 'cancelled'];
    expect(await remaining(store)).toEqual(all.filter((id) => !gone.includes(id)));
  },

  'pruning removes attempts and output, and returns the attempts with files': async ({ store }) => {
    const kept = await addEnded(store, 'kept', NOW, { bytes: 10 });
    const filed = await addEnded(store, 'filed', NOW, { bytes: 20_000, inFile: true });
    await addEnded(store, 'silent', NOW);
    const pruned = await store.prune('completed', keep({ count: 0 }), NOW);
    expect(pruned).toEqual({ jobs: 3, bytes: 20_010, attempts: [filed] });
    expect(await store.output(kept)).toBeNull();
    expect(await store.attempts('filed')).toEqual([]);
    expect(await store.bytesInFiles(filed)).toBeNull();
    expect(await store.counts()).toEqual([]);
  },

  'one step of pruning is limited in jobs and in attempts': async ({ store }) => {
    for (let i = 0; i < 150; i++) await addEnded(store, `job${i}`, NOW + i);
    const sizes: number[] = [];
    for (;;) {
      const { jobs } = await store.prune('completed', keep({ count: 20 }), NOW);
      if (jobs === 0) break;
      sizes.push(jobs);
    }
    expect(sizes.reduce((a, b) => a + b, 0)).toBe(130);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
    expect(await remaining(store)).toHaveLength(20);
    for (let i = 0; i < 300; i++) {
      const job = i === 0 ? await startJob(store, 'often', { maxRetries: 1 }) : await claimOne(store);
      await store.settle(ending(job, failedWith(1), NOW));
      await store.retry(['often'], ['dead'], NOW);
    }
    await store.cancel(['often'], NOW);
    await store.insert([jobSpec('next')], NOW + 1);
    await store.cancel(['next'], NOW + 1);
    expect(await store.prune('cancelled', keep({ count: 0 }), NOW)).toMatchObject({ jobs: 1 });
    expect(await store.prune('cancelled', keep({ count: 0 }), NOW)).toMatchObject({ jobs: 1 });
  },

  'several prunes at the same time remove each job once': async ({ store, another }) => {
    for (let i = 0; i < 120; i++) await addEnded(store, `job${i}`, NOW + i);
    const stores = [store, await another(), await another()];
    const removed = await Promise.all(
      stores.map(async (one) => {
        let total = 0;
        for (let more = true; more; ) {
          const { jobs } = await one.prune('completed', keep({ count: 5 }), NOW);
          total += jobs;
          more = jobs > 0;
        }
        return total;
      }),
    );
    expect(removed.reduce((a, b) => a + b, 0)).toBe(115);
    expect(await remaining(store)).toHaveLength(5);
  },
};
