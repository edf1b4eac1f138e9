import { KEY_KEPT_MS } from '../../core/idempotency.ts';
import type { JobTotals, PrunedState, Retention } from '../../core/retention.ts';
import type { PruneResult, RetentionStore } from '../contract/retention.ts';
import {
  countPrunable,
  firstBatch,
  PRUNABLE_PER_PAGE,
  PRUNED_AT_ONCE,
  type PrunableJob,
} from '../prunable.ts';
import { changeJobs } from './change-jobs.ts';
import type { Connection } from './connection.ts';
import { recordEvent } from './record-events.ts';
import * as sql from './sql/retention.ts';
import type { Transaction } from './transaction.ts';

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

async function nextBatch(
  tx: Transaction,
  state: PrunedState,
  keep: Retention,
  now: number,
): Promise<PrunableJob[]> {
  const { oldest, totals } = await endedJobsAfter(tx, state, undefined, PRUNED_AT_ONCE);
  return firstBatch(oldest, totals, keep, now);
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
    const { oldest, totals } = await endedJobsAfter(tx, state, after, PRUNABLE_PER_PAGE);
    if (!countPrunable(oldest, totals, result, keep, now)) return result;
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
