import { countExcess, type EndedJob, type JobTotals, type Retention } from '../core/retention.ts';

/** One transaction removes at most this many jobs, owned rows and bytes of stdin, but at least one job, so that it stays short. */
export const PRUNED_AT_ONCE = 100;
const ROWS_AT_ONCE = 200;
const STDIN_BYTES_AT_ONCE = 1024 ** 2;
/** The jobs that can be removed are counted in pages of this size. */
export const PRUNABLE_PER_PAGE = 10_000;

export interface PrunableJob extends EndedJob {
  number: number;
  /** The number of its attempts and dependencies, which are removed with it. */
  ownedRows: number;
  stdinBytes: number;
}

/** Returns those of the oldest jobs that one transaction removes. `totals` are those of all jobs in their state. */
export function firstBatch(
  oldest: PrunableJob[],
  totals: JobTotals,
  keep: Retention,
  now: number,
): PrunableJob[] {
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
export function countPrunable(
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
