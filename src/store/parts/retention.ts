import { KEY_KEPT_MS } from '../../core/jobs/enqueue-rules.ts';
import {
  countExcess,
  type EndedJob,
  type JobTotals,
  type PrunedState,
  type Retention,
} from '../../core/rules/retention.ts';
import type { PruneResult, RetentionStore } from '../contract/retention.ts';
import { all, type Engine, recordEvent, run, type Steps, statementsOf, together } from '../steps.ts';
import { CURRENT_COUNTS } from './log.ts';

/** One transaction removes at most this many jobs, owned rows and bytes of stdin, but at least one job, so that it stays short. */
const PRUNED_AT_ONCE = 100;
const ROWS_AT_ONCE = 200;
const STDIN_BYTES_AT_ONCE = 1024 ** 2;
/** The jobs that can be removed are counted in pages of this size. */
const PRUNABLE_PER_PAGE = 10_000;

interface PrunableJob extends EndedJob {
  number: number;
  /** The number of its attempts and dependencies, which are removed with it. */
  ownedRows: number;
  stdinBytes: number;
}

export const retentionStatements = statementsOf(({ isOneOf, json, jobRemoval }) => ({
  /**
   * Reads the oldest jobs that ended in a state, and in the same moment the totals of the state. Jobs that ended before $2 and up
   * to the number $3 in that millisecond are left out.
   */
  endedJobs: (limit: number): string => `WITH total AS MATERIALIZED (
      SELECT coalesce(sum(jobs), 0) AS jobs, coalesce(sum(bytes), 0) AS bytes FROM (${CURRENT_COUNTS}) AS current WHERE state = $1)
    SELECT number, finished_at AS "finishedAt", job.bytes, runs + coalesce(json_array_length(${json('depends_on')}), 0) AS "ownedRows",
      coalesce(CAST(${json('start')} ->> 'stdinBytes' AS bigint), 0) AS "stdinBytes", total.jobs AS "allJobs", total.bytes AS "allBytes"
    FROM job CROSS JOIN total
    WHERE phase = 'ended' AND state = $1 AND (finished_at, number) > ($2, $3) ORDER BY finished_at, number LIMIT ${limit}`,
  /** Finds the attempts of jobs whose output is in a file. */
  attemptsWithFile: `SELECT job, number FROM attempt WHERE ${isOneOf('job', '$1')} AND output_bytes > 0
    AND NOT EXISTS (SELECT 1 FROM output WHERE output.attempt = attempt.number)`,
  /** Removes jobs, except those that were retried since they were chosen. $7 is the last end of a chosen job. */
  removeEnded: jobRemoval(`${isOneOf('number', '$6')} AND phase = 'ended' AND finished_at <= $7`),
  anyOldKey: 'SELECT 1 FROM idempotency WHERE used_at <= $1 LIMIT 1',
  /** Few keys are removed at once, because one key may hold the ids of very many jobs. */
  deleteOldKeys: `DELETE FROM idempotency WHERE key IN (
    SELECT key FROM idempotency WHERE used_at <= $1 ORDER BY used_at LIMIT 50)`,
}));

export function retentionPart(db: Engine): RetentionStore {
  const sql = retentionStatements(db.dialect);
  return {
    async prune(state, keep, now) {
      // A read comes first, because most often there is nothing to remove.
      if ((await db.glance(() => nextBatch(db, state, keep, now))).length === 0)
        return { jobs: 0, bytes: 0, attempts: [] };
      return db.write('prune', () => removeBatch(db, state, keep, now), { usesBallast: true });
    },
    prunable: (state, keep, now) => db.read(() => prunable(db, state, keep, now)),
    async forgetKeys(now) {
      const before = now - KEY_KEPT_MS;
      const hasOld = (await db.glance(() => all(sql.anyOldKey, before))).length > 0;
      return hasOld ? db.write('forgetKeys', () => run(sql.deleteOldKeys, before)) : 0;
    },
  };
}

function* nextBatch(db: Engine, state: PrunedState, keep: Retention, now: number): Steps<PrunableJob[]> {
  const { oldest, totals } = yield* endedJobsAfter(db, state, undefined, PRUNED_AT_ONCE);
  return firstBatch(oldest, totals, keep, now);
}

function* removeBatch(db: Engine, state: PrunedState, keep: Retention, now: number): Steps<PruneResult> {
  const sql = retentionStatements(db.dialect);
  for (;;) {
    const batch = yield* nextBatch(db, state, keep, now);
    const numbers = batch.map((job) => job.number);
    const last = batch.at(-1);
    if (last === undefined) return { jobs: 0, bytes: 0, attempts: [] };
    const [filed, removed] = yield* together(
      all<{ job: number; number: number }>(sql.attemptsWithFile, numbers),
      db.changeJobs(sql.removeEnded, null, now, numbers, last.finishedAt),
    );
    // Another process may have removed the same jobs. Then the next ones are removed.
    if (removed.length === 0) continue;
    const gone = new Set(removed.map((job) => job.number));
    const bytes = batch.reduce((sum, job) => sum + (gone.has(job.number) ? job.bytes : 0), 0);
    yield* recordEvent(db, { kind: 'jobs-pruned', detail: { state, jobs: gone.size, bytes } });
    const attempts = filed.filter((attempt) => gone.has(attempt.job)).map((attempt) => attempt.number);
    return { jobs: gone.size, bytes, attempts };
  }
}

function* prunable(db: Engine, state: PrunedState, keep: Retention, now: number): Steps<JobTotals> {
  const result = { jobs: 0, bytes: 0 };
  for (let after: PrunableJob | undefined; ; ) {
    const { oldest, totals } = yield* endedJobsAfter(db, state, after, PRUNABLE_PER_PAGE);
    if (!countPrunable(oldest, totals, result, keep, now)) return result;
    after = oldest.at(-1);
  }
}

/** Returns at most `limit` jobs that ended after the given one, in the order in which they ended, and the totals of the state. */
function* endedJobsAfter(
  { dialect }: Engine,
  state: PrunedState,
  after: PrunableJob | undefined,
  limit: number,
): Steps<{ oldest: PrunableJob[]; totals: JobTotals }> {
  const { finishedAt, number } = after ?? { finishedAt: Number.MIN_SAFE_INTEGER, number: 0 };
  const oldest = yield* all<PrunableJob & { allJobs: number; allBytes: number }>(
    retentionStatements(dialect).endedJobs(limit),
    ...[state, finishedAt, number],
  );
  return { oldest, totals: { jobs: oldest[0]?.allJobs ?? 0, bytes: oldest[0]?.allBytes ?? 0 } };
}

/** Returns those of the oldest jobs that one transaction removes. `totals` are those of all jobs in their state. */
function firstBatch(oldest: PrunableJob[], totals: JobTotals, keep: Retention, now: number): PrunableJob[] {
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

/** Counts the jobs of a page that can be removed, in addition to those in `counted`. Returns whether more of them may follow. */
function countPrunable(
  page: PrunableJob[],
  totals: JobTotals,
  counted: JobTotals,
  keep: Retention,
  now: number,
): boolean {
  const remaining = { jobs: totals.jobs - counted.jobs, bytes: totals.bytes - counted.bytes };
  const excess = countExcess(keep, remaining, page, now);
  for (const job of page.slice(0, excess)) {
    counted.jobs++;
    counted.bytes += job.bytes;
  }
  return excess === PRUNABLE_PER_PAGE;
}
