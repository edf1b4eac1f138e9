import { type ParentEnd, SATISFIED_CONDITIONS } from '../../core/jobs/dependencies.ts';
import type { JobStore } from '../contract/jobs.ts';
import { toAttempt } from '../rows.ts';
import { toSetAsideCounts } from '../set-aside.ts';
import type { Connection } from './connection.ts';
import { count, list, scanEnd } from './lists.ts';
import { setAsideCounts } from './sql/counts.ts';
import * as sql from './sql/jobs.ts';

type JobLists = Pick<
  JobStore,
  'list' | 'scanEnd' | 'count' | 'setAsideCounts' | 'attempts' | 'cancelledWith' | 'cancelledDueTo'
>;

export function jobLists(db: Connection): JobLists {
  return {
    list: (filter, page) => db.read(() => list(db, filter, page)),
    scanEnd: (filter, limit, before) => db.read(() => scanEnd(db, filter, limit, before)),
    count: (filter, most, range) => db.read(() => count(db, filter, most, range)),
    setAsideCounts: (now) => db.read(() => db.all(setAsideCounts, now, now).map(toSetAsideCounts)),
    attempts: (id) => db.read(() => db.all(sql.attemptsOfJob, id).map(toAttempt)),
    cancelledWith: (ids, end, most = Number.POSITIVE_INFINITY) =>
      db.read(() => cancelledWith(db, ids, end, most)),
    cancelledDueTo: (id, ends = 'all') =>
      db.read(() => db.all(sql.cancelledDueTo, id, ends === 'last' ? 1 : 0).map((row) => row.id as string)),
  };
}

/** Returns the ids of the jobs that would be cancelled if these jobs were cancelled or deleted, but at most `most`. */
function cancelledWith(db: Connection, ids: string[], end: 'cancelled' | 'deleted', most: number) {
  const seen = new Set<number>();
  const parents: { number: number; end: ParentEnd }[] = [];
  for (const id of ids) {
    const job = db.get(sql.jobSummary, id);
    // A running job cannot be deleted, and the end of a job that has ended cancels nothing more.
    if (job === undefined || job.phase === 'ended' || (end === 'deleted' && job.phase === 'running'))
      continue;
    seen.add(job.number as number);
    parents.push({ number: job.number as number, end });
  }
  const cancelled: { number: number; id: string }[] = [];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    const satisfied = JSON.stringify(SATISFIED_CONDITIONS[parent.end]);
    for (const row of db.each(sql.cancelledChildren, parent.number, satisfied)) {
      if (cancelled.length >= most) break;
      const number = row.number as number;
      if (seen.has(number)) continue;
      seen.add(number);
      cancelled.push({ number, id: row.id as string });
      parents.push({ number, end: 'cancelled' });
    }
    if (cancelled.length >= most) break;
  }
  return cancelled.sort((a, b) => a.number - b.number).map((job) => job.id);
}
