import { KEY_KEPT_MS } from '../../core/idempotency.ts';
import {
  countExcess,
  type EndedJob,
  type JobTotals,
  type PrunedState,
  type Retention,
} from '../../core/retention.ts';
import type { PruneResult, RetentionStore } from '../contract/retention.ts';
import type { Connection } from './connection.ts';
import { recordEvent } from './record-events.ts';
import * as sql from './sql/retention.ts';

/** One transaction removes at most this many jobs, owned rows and bytes of stdin, but at least one job, because other writers wait. */
const JOBS_AT_ONCE = 100;
const ROWS_AT_ONCE = 200;
const STDIN_BYTES_AT_ONCE = 1024 ** 2;
const JOBS_PER_PAGE = 10_000;
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

interface PrunableJob extends EndedJob {
  number: number;
  /** The number of its attempts and dependencies, which are removed with it. */
  ownedRows: number;
  stdinBytes: number;
}

function nextBatch(db: Connection, state: PrunedState, keep: Retention, now: number): PrunableJob[] {
  const oldest = endedJobsAfter(db, state, undefined, JOBS_AT_ONCE);
  const excess = oldest.slice(0, countExcess(keep, totalsOf(db, state), oldest, now));
  let rows = 0;
  let stdin = 0;
  const firstTooHeavy = excess.findIndex((job) => {
    rows += job.ownedRows;
    stdin += job.stdinBytes;
    return rows > ROWS_AT_ONCE || stdin > STDIN_BYTES_AT_ONCE;
  });
  return firstTooHeavy === -1 ? excess : excess.slice(0, Math.max(1, firstTooHeavy));
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
    const oldest = endedJobsAfter(db, state, after, JOBS_PER_PAGE);
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
