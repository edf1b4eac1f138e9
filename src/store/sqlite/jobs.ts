import type { JobStore } from '../contract/jobs.ts';
import { toAttempt } from '../rows.ts';
import { toSetAsideCounts } from '../set-aside.ts';
import type { Connection } from './connection.ts';
import { cancelledWith } from './dependencies.ts';
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
