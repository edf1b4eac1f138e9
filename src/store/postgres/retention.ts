import { KEY_KEPT_MS } from '../../core/idempotency.ts';
import {
  countExcess,
  type EndedJob,
  type JobTotals,
  type PrunedState,
  type Retention,
} from '../../core/retention.ts';
import type { PruneResult, RetentionStore } from '../contract/retention.ts';
import { changeJobs } from './change-jobs.ts';
import type { Connection } from './connection.ts';
import { recordEvent } from './record-events.ts';
import * as sql from './sql/retention.ts';
import type { Transaction } from './transaction.ts';

/** One transaction removes at most this many jobs, owned rows and bytes of stdin, but at least one job, so that it stays short. */
const JOBS_AT_ONCE = 100;
const ROWS_AT_ONCE = 200;
const STDIN_BYTES_AT_ONCE = 1024 ** 2;
const JOBS_PER_PAGE = 10_000;

export function retentionStore(db: Connection): RetentionStore {
  return {
    async prune(state, keep, now) {
      // A read comes first, because most often there is nothing to remove.
      const hasExcess = await db.read(async (tx) => (await nextBatch(tx, state, keep, now)).length > 0);
      if (!hasExcess) return { jobs: 0, bytes: 0, attempts: [] };
      return db.write('prune', (tx) => removeBatch(tx, state, keep, now));
    },
    prunable: (state, keep, now) => db.read((tx) => prunable(tx, state, keep, now)),
    forgetKeys: (now) => forgetKeys(db, now),
  };
}

interface PrunableJob extends EndedJob {
  number: number;
  /** The number of its attempts and dependencies, which are removed with it. */
  ownedRows: number;
  stdinBytes: number;
}

async function nextBatch(
  tx: Transaction,
  state: PrunedState,
  keep: Retention,
  now: number,
): Promise<PrunableJob[]> {
  const { oldest, totals } = await endedJobsAfter(tx, state, undefined, JOBS_AT_ONCE);
  const excess = oldest.slice(0, countExcess(keep, totals, oldest, now));
  let rows = 0;
  let stdin = 0;
  const firstTooHeavy = excess.findIndex((job) => {
    rows += job.ownedRows;
    stdin += job.stdinBytes;
    return rows > ROWS_AT_ONCE || stdin > STDIN_BYTES_AT_ONCE;
  });
  return firstTooHeavy === -1 ? excess : excess.slice(0, Math.max(1, firstTooHeavy));
}

async function removeBatch(
  tx: Transaction,
  state: PrunedState,
  keep: Retention,
  now: number,
): Promise<PruneResult> {
  for (;;) {
    const batch = await nextBatch(tx, state, keep, now);
    const numbers = batch.map((job) => job.number);
    const last = batch.at(-1);
    if (last === undefined) return { jobs: 0, bytes: 0, attempts: [] };
    const [filed, removed] = await Promise.all([
      tx.all<{ job: number; number: number }>(sql.attemptsWithFile, numbers),
      changeJobs(tx, sql.removeEnded, null, now, numbers, last.finishedAt),
    ]);
    // Another process may have removed the same jobs. Then the next ones are removed.
    if (removed.length === 0) continue;
    const gone = new Set(removed.map((job) => job.number));
    const bytes = batch.reduce((sum, job) => sum + (gone.has(job.number) ? job.bytes : 0), 0);
    await recordEvent(tx, { kind: 'jobs-pruned', detail: { state, jobs: gone.size, bytes } });
    const attempts = filed.filter((attempt) => gone.has(attempt.job)).map((attempt) => attempt.number);
    return { jobs: gone.size, bytes, attempts };
  }
}

async function prunable(
  tx: Transaction,
  state: PrunedState,
  keep: Retention,
  now: number,
): Promise<JobTotals> {
  const result = { jobs: 0, bytes: 0 };
  for (let after: PrunableJob | undefined; ; ) {
    const { oldest, totals } = await endedJobsAfter(tx, state, after, JOBS_PER_PAGE);
    const remaining = { jobs: totals.jobs - result.jobs, bytes: totals.bytes - result.bytes };
    const excess = countExcess(keep, remaining, oldest, now);
    for (const job of oldest.slice(0, excess)) {
      result.jobs++;
      result.bytes += job.bytes;
    }
    if (excess < JOBS_PER_PAGE) return result;
    after = oldest.at(-1);
  }
}

/** Returns at most `limit` jobs that ended after the given one, in the order in which they ended, and the totals of the state. */
async function endedJobsAfter(
  tx: Transaction,
  state: PrunedState,
  after: PrunableJob | undefined,
  limit: number,
): Promise<{ oldest: PrunableJob[]; totals: JobTotals }> {
  const { finishedAt, number } = after ?? { finishedAt: Number.MIN_SAFE_INTEGER, number: 0 };
  const oldest = await tx.all<PrunableJob & { allJobs: number; allBytes: number }>(
    sql.endedJobs(limit),
    ...[state, finishedAt, number],
  );
  const totals = { jobs: oldest[0]?.allJobs ?? 0, bytes: oldest[0]?.allBytes ?? 0 };
  return { oldest, totals };
}

async function forgetKeys(db: Connection, now: number): Promise<number> {
  const before = now - KEY_KEPT_MS;
  // A read comes first, because most often there is nothing to remove.
  const hasOld = await db.read(async (tx) => (await tx.get(sql.anyOldKey, before)) !== undefined);
  return hasOld ? db.write('forgetKeys', (tx) => tx.run(sql.deleteOldKeys, before)) : 0;
}
