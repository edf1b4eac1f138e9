import { describe, expect, test } from 'bun:test';
import type { ClaimedJob } from '../../src/core/jobs/job.ts';
import { claimPart } from '../../src/store/parts/claims.ts';
import { problemsOf } from '../../src/store/sqlite/care/check.ts';
import type { Connection } from '../../src/store/sqlite/connection.ts';
import { sqliteEngine } from '../../src/store/sqlite/engine.ts';
import { readyHeads } from '../../src/store/sqlite/sql/claims.ts';
import type { Store } from '../../src/store/store.ts';
import { claim, claimRequest, ending, ids, jobSpec, NOW } from '../support/jobs.ts';
import { below, seededRandom } from '../support/random.ts';
import { withSqlite } from '../support/sqlite.ts';

const QUEUES = 60;

/** Returns the jobs that can be claimed now, in the order in which they are to be claimed. */
async function claimableJobs(store: Store, now: number, queues: string[] | null) {
  const paused = (await store.queues()).flatMap(({ name, pausedAt }) => (pausedAt === null ? [] : [name]));
  const jobs = await store.list({ states: ['pending', 'failed'] }, { limit: 10_000 });
  return jobs
    .filter((job) => !job.held && !job.blocked && job.dueAt! <= now && !paused.includes(job.queue))
    .filter((job) => queues === null || queues.includes(job.queue))
    .sort((a, b) => b.priority - a.priority || a.number - b.number);
}

/** Makes random changes to jobs of many queues, and compares each claim with the order of all jobs. */
async function changeAtRandom(store: Store, connection: Connection): Promise<void> {
  const source = seededRandom('changes to many queues');
  const random = (limit: number): number => below(source, limit);
  const queueOf = () => `q${random(QUEUES)}`;
  let now = NOW;
  let added = 0;
  let running: ClaimedJob[] = [];
  /** Some of the latest jobs, because most of the others have ended. */
  const someIds = () => Array.from({ length: 8 }, () => `job-${Math.max(0, added - 1 - random(200))}`);
  const newJobs = () =>
    Array.from({ length: 1 + random(60) }, () =>
      jobSpec(`job-${added++}`, {
        ...{ queue: queueOf(), priority: random(3), hold: random(20) === 0 },
        runAt: random(4) === 0 ? now + random(5000) : null,
      }),
    );
  const steps: (() => Promise<unknown>)[] = [
    () => store.insert(newJobs(), now),
    () => store.cancel(someIds(), now),
    () => store.hold(someIds(), now),
    () => store.release(someIds(), now),
    () => store.edit(someIds(), { priority: random(5) }, now),
    () => store.edit(someIds(), { queue: queueOf() }, now),
    () => store.setQueue(queueOf(), { paused: { at: now, by: 'me' } }),
    () => store.setQueue(queueOf(), { paused: null }),
    async () => {
      now += random(1000);
    },
  ];
  for (let i = 0; i < 200; i++) {
    await steps[random(steps.length)]!();
    const queues = random(3) === 0 ? [queueOf(), queueOf(), 'none'] : null;
    const claimable = await claimableJobs(store, now, queues);
    const settlements = running.map((job) => ending(job, { why: 'exited', code: random(2) }, now));
    // A failed job waits for its retry, so the settlements make no other job claimable.
    const [limit, ahead] = [1 + random(3), random(3)];
    const { nextDue } = await store.agenda('w1', queues, now);
    expect(nextDue !== null && nextDue <= now).toBe(claimable.length > 0);
    running = await claim(store, { queues, limit, ahead, settlements }, now);
    const retried = claimable.findIndex((job, at) => at >= limit && job.attempts > 0);
    const expected = claimable
      .slice(0, retried < 0 ? limit + ahead : Math.min(limit + ahead, retried))
      .filter((job, at) => at < limit || job.priority === claimable[0]!.priority);
    expect(ids(running).sort()).toEqual(ids(expected).sort());
  }
  expect(await problemsOf(connection)).toEqual([]);
}

describe('a store with many queues', () => {
  test('every claim takes the first jobs of all queues, after random changes', () =>
    withSqlite(changeAtRandom));

  test('a claim reads few of the queues, whatever their number', () =>
    withSqlite(async (store, connection) => {
      const jobs = Array.from({ length: 800 }, (_, i) => jobSpec(`job-${i}`, { queue: `q${i % 400}` }));
      await store.insert(jobs, NOW);
      let queuesRead = 0;
      const counting: Connection = {
        ...connection,
        all: (sql, ...values) => {
          if (sql === readyHeads) queuesRead++;
          return connection.all(sql, ...values);
        },
      };
      const claims = claimPart(sqliteEngine(counting));
      const claimed: string[] = [];
      for (let i = 0; i < 500; i++) claimed.push(...ids((await claims.claim(claimRequest(), NOW)).jobs));
      expect(claimed).toEqual(ids(jobs.slice(0, 500)));
      // The bounds of up to four queues are wrong at a time, because each claim takes the first job of a queue.
      expect(queuesRead).toBeLessThan(6 * 500);
    }));
});
