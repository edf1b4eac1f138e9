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
import type { Connection } from './connection.ts';
import { recordEvent } from './record-events.ts';
import * as sql from './sql/retention.ts';

/** Few keys are removed at once, because one key may hold the ids of very many jobs. */
const KEYS_AT_ONCE = 50;

export function retentionStore(db: Connection): RetentionStore {
  return {
    async prune(state, keep, now) {
      // A read comes first, so that no other writer waits if there is nothing to remove.
      const hasExcess = await db.read(() => nextBatch(db, state, keep, now).length > 0);
      if (!hasExcess) return { jobs: 0, bytes: 0, attempts: [] };
      return db.write('prune', () => removeBatch(db, state, keep, now), { usesBallast: true });
    },
    prunable: (state, keep, now) => db.read(() => prunable(db, state, keep, now)),
    forgetKeys: (now) => forgetKeys(db, now),
  };
}

function nextBatch(db: Connection, state: PrunedState, keep: Retention, now: number): PrunableJob[] {
  const oldest = endedJobsAfter(db, state, undefined, PRUNED_AT_ONCE);
  return firstBatch(oldest, totalsOf(db, state), keep, now);
}

function removeBatch(db: Connection, state: PrunedState, keep: Retention, now: number): PruneResult {
  const batch = nextBatch(db, state, keep, now);
  const attempts: number[] = [];
  for (const { number } of batch) {
    for (const row of db.all(sql.attemptsWithFile, number)) attempts.push(row.number as number);
    db.run(sql.deleteEnded, number);
  }
  const bytes = batch.reduce((sum, job) => sum + job.bytes, 0);
  if (batch.length > 0)
    recordEvent(db, { kind: 'jobs-pruned', detail: { state, jobs: batch.length, bytes } });
  return { jobs: batch.length, bytes, attempts };
}

function prunable(db: Connection, state: PrunedState, keep: Retention, now: number): JobTotals {
  const totals = totalsOf(db, state);
  const result = { jobs: 0, bytes: 0 };
  for (let after: PrunableJob | undefined; ; ) {
    const oldest = endedJobsAfter(db, state, after, PRUNABLE_PER_PAGE);
    if (!countPrunable(oldest, totals, result, keep, now)) return result;
    after = oldest.at(-1);
  }
}

function totalsOf(db: Connection, state: PrunedState): JobTotals {
  return db.get<JobTotals>(sql.totalsOfState, state)!;
}

/** Returns at most `limit` jobs that ended after the given one, in the order in which they ended. */
function endedJobsAfter(db: Connection, state: PrunedState, after: PrunableJob | undefined, limit: number) {
  const { finishedAt, number } = after ?? { finishedAt: Number.MIN_SAFE_INTEGER, number: 0 };
  return db.all<PrunableJob>(sql.endedJobs, state, finishedAt, number, limit);
}

async function forgetKeys(db: Connection, now: number): Promise<number> {
  const before = now - KEY_KEPT_MS;
  const hasOld = await db.read(() => db.get(sql.anyOldKey, before) !== undefined);
  return hasOld ? db.write('forgetKeys', () => db.run(sql.deleteOldKeys, before, KEYS_AT_ONCE)) : 0;
}
