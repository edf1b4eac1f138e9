import type { State } from '../../core/job.ts';
import type { DeadJob, JobStore, PlacedCount, QueueCount } from '../contract/jobs.ts';
import { mapIfFound, toAttempt, toJob } from '../rows.ts';
import { toSetAsideCounts } from '../set-aside.ts';
import type { Connection } from './connection.ts';
import { cancelledWith, childrenOf, countChildren, dependenciesOf } from './dependencies.ts';
import { count, list, MAX_NUMBER, scanEnd } from './lists.ts';
import * as countSql from './sql/counts.ts';
import { jobById } from './sql/insert.ts';
import * as sql from './sql/jobs.ts';

/** Implements this part except `insert`, which store-core.ts has. */
export function jobStore(db: Connection): Omit<JobStore, 'insert' | 'insertOn'> {
  return {
    get: (id) => db.read(() => mapIfFound(db.get(jobById, id), toJob)),
    idsStartingWith: (prefix, limit) => db.read(() => idsStartingWith(db, prefix, limit)),
    list: (filter, page) => db.read(() => list(db, filter, page)),
    deadJobs: (limit, before = MAX_NUMBER) => db.read(() => db.all<DeadJob>(sql.deadJobs, before, limit)),
    scanEnd: (filter, limit, before) => db.read(() => scanEnd(db, filter, limit, before)),
    count: (filter, most, range) => db.read(() => count(db, filter, most, range)),
    counts: (queues) =>
      db.read(() =>
        queues === undefined
          ? db.all<QueueCount>(countSql.counts)
          : db.all<QueueCount>(countSql.countsOfQueues, JSON.stringify(queues)),
      ),
    stateCounts: () => db.read(() => ({ ...db.get<Record<State, number>>(countSql.stateCounts)! })),
    setAsideCounts: (now) => db.read(() => db.all(countSql.setAsideCounts, now, now).map(toSetAsideCounts)),
    placedCounts: () => db.read(() => db.all<PlacedCount>(countSql.placedCounts)),
    attempts: (id) => db.read(() => db.all(sql.attemptsOfJob, id).map(toAttempt)),
    dependencies: (id) => db.read(() => dependenciesOf(db, id)),
    children: (id, limit = Number.POSITIVE_INFINITY) => db.read(() => childrenOf(db, id, limit)),
    countChildren: (id, most) => db.read(() => countChildren(db, id, most)),
    cancelledWith: (ids, end, most = Number.POSITIVE_INFINITY) =>
      db.read(() => cancelledWith(db, ids, end, most)),
    cancelledDueTo: (id, ends = 'all') =>
      db.read(() => db.all(sql.cancelledDueTo, id, ends === 'last' ? 1 : 0).map((row) => row.id as string)),
    stdin: (id) =>
      db.read(() =>
        mapIfFound(db.get(sql.stdinOfJob, id), (row) => Buffer.from(row.bytes as Uint8Array).toString()),
      ),
    output: (attempt, stream) =>
      db.read(() =>
        mapIfFound(
          db.get(sql.outputOfAttempt, attempt),
          (row) => (stream === 'stderr' ? row.stderr : row.bytes) as Uint8Array | null,
        ),
      ),
    needsPlace: (attempt) => db.read(() => db.get(sql.attemptNeedsPlace, attempt) !== undefined),
  };
}

/** The prefix followed by this character sorts after every id with the prefix, because no id contains the character. */
const LAST_CHARACTER = '\u{10ffff}';

function idsStartingWith(db: Connection, prefix: string, limit: number): string[] {
  const exact = db.get(jobById, prefix);
  if (exact !== undefined) return [exact.id as string];
  return db.all(sql.idsStartingWith, prefix, prefix + LAST_CHARACTER, limit).map((row) => row.id as string);
}
