import { expect, test } from 'bun:test';
import type { ClaimedJob } from '../../src/core/jobs/job.ts';
import type { Store } from '../../src/store/store.ts';
import { claimRequest, ending, failedWith, jobSpec, NOW, newWorker, succeeded } from '../support/jobs.ts';
import { openTempPostgres } from '../support/postgres.ts';

const LIMIT = 3;
const WORKERS = 6;
const JOBS = 240;

/** Settles and claims until no job is left. Every fifth job of the queue `limited` fails once. */
async function work(
  store: Store,
  workerId: string,
  runs: string[],
  isDone: () => Promise<boolean>,
): Promise<void> {
  let held: ClaimedJob[] = [];
  for (;;) {
    const settlements = held.map((job) =>
      ending(job, job.id.endsWith('5') && job.attempts === 0 ? failedWith(1) : succeeded, NOW, {
        onIdle: jobSpec(`idle-${job.claim.attempt}`, { queue: 'hooks' }),
      }),
    );
    const result = await store.claim(claimRequest({ workerId, limit: 2, settlements }), NOW + 1e6);
    expect(result.settled).toEqual(held.map(() => 'applied'));
    held = result.jobs;
    runs.push(...held.map((job) => job.id));
    if (held.length === 0 && (await isDone())) return;
  }
}

test('many workers run each attempt once and within the limits, and the counters equal the rows', async () => {
  const { store, reopen, cleanup } = await openTempPostgres();
  const stores = await Promise.all(Array.from({ length: WORKERS }, () => reopen()));
  try {
    for (let i = 0; i < WORKERS; i++) await store.register(newWorker(`w${i}`));
    await store.setQueue('limited', { concurrency: LIMIT });
    const specs = Array.from({ length: JOBS }, (_, i) =>
      jobSpec(`job-${i}`, {
        queue: ['plain', 'limited', 'chained'][i % 3]!,
        dependsOn: i % 3 === 2 ? [{ id: `job-${i - 1}`, on: 'ok' }] : [],
      }),
    );
    await store.insert(specs, NOW);
    const runs: string[] = [];
    const isDone = async () => (await store.busyQueues(NOW + 1e6)).length === 0;
    let most = 0;
    let isWorking = true;
    const watch = async (): Promise<void> => {
      while (isWorking) {
        const running = (await store.runningJobs()).filter((job) => job.queue === 'limited');
        most = Math.max(most, running.length);
      }
    };
    const watching = watch();
    await Promise.all(stores.map((one, i) => work(one, `w${i}`, runs, isDone)));
    isWorking = false;
    await watching;
    expect(most).toBeLessThanOrEqual(LIMIT);
    const retried = specs.filter((spec) => spec.id.endsWith('5')).map((spec) => spec.id);
    const ownRuns = runs.filter((id) => id.startsWith('job-'));
    expect(ownRuns.toSorted()).toEqual([...specs.map((spec) => spec.id), ...retried].toSorted());
    expect(runs.length).toBeGreaterThan(ownRuns.length);
    const counts = (await store.counts()).filter(({ queue }) => queue !== 'hooks');
    expect(counts.toSorted((a, b) => a.queue.localeCompare(b.queue))).toEqual(
      ['chained', 'limited', 'plain'].map((queue) => ({ queue, state: 'completed', jobs: JOBS / 3 })),
    );
  } finally {
    for (const one of [store, ...stores]) await one.close();
    await cleanup();
  }
}, 100_000);
