import type { State } from '../../core/job.ts';
import type { DeadJob, JobStore, PlacedCount, QueueCount } from '../contract/jobs.ts';
import { mapIfFound, toAttempt, toJob } from '../rows.ts';
import { toSetAsideCounts } from '../set-aside.ts';
import type { Connection } from './connection.ts';
import { insertion } from './insert.ts';
import { insertionOn } from './insert-on.ts';
import { count, list, MAX_NUMBER, scanEnd } from './lists.ts';
import { relatedJobs } from './related-jobs.ts';
import * as sql from './sql/jobs.ts';
import type { Transaction } from './transaction.ts';

export function jobStore(db: Connection): JobStore {
  return {
    insert: insertion(db),
    insertOn: insertionOn(db),
    get: (id) => db.read(async (tx) => mapIfFound(await tx.get(sql.jobById, id), toJob)),
    idsStartingWith: (prefix, limit) => db.read((tx) => idsStartingWith(tx, prefix, limit)),
    list: (filter, page) => db.read((tx) => list(tx, filter, page)),
    deadJobs: (limit, before = MAX_NUMBER) => db.read((tx) => tx.all<DeadJob>(sql.deadJobs, before, limit)),
    scanEnd: (filter, limit, before) => db.read((tx) => scanEnd(tx, filter, limit, before)),
    count: (filter, most, range) => db.read((tx) => count(tx, filter, most, range)),
    counts: (queues) => db.read((tx) => tx.all<QueueCount>(sql.counts, queues ?? null)),
    stateCounts: () => db.read(async (tx) => (await tx.get<Record<State, number>>(sql.stateCounts))!),
    placedCounts: () => db.read((tx) => tx.all<PlacedCount>(sql.placedCounts)),
    setAsideCounts: (now) =>
      db.read(async (tx) => (await tx.all(sql.setAsideCounts, now)).map(toSetAsideCounts)),
    attempts: (id) =>
      db.read(async (tx) => (await tx.all(sql.attemptsOfJob, id, ...tx.host())).map(toAttempt)),
    ...relatedJobs(db),
    stdin: (id) =>
      db.read(async (tx) =>
        mapIfFound(await tx.get(sql.stdinOfJob, id), (row) =>
          Buffer.from(row.bytes as Uint8Array).toString(),
        ),
      ),
    output: (attempt, stream) =>
      db.read(async (tx) =>
        mapIfFound(
          await tx.get(sql.outputOfAttempt, attempt),
          (row) => (stream === 'stderr' ? row.stderr : row.bytes) as Uint8Array | null,
        ),
      ),
    needsPlace: (attempt) =>
      db.read(async (tx) => (await tx.get(sql.attemptNeedsPlace, attempt)) !== undefined),
  };
}

/** The prefix followed by this character sorts after every id with the prefix, because no id contains the character. */
const LAST_CHARACTER = '\u{10ffff}';

async function idsStartingWith(tx: Transaction, prefix: string, limit: number): Promise<string[]> {
  // An id that equals the prefix is the first of them.
  const rows = await tx.all<{ id: string }>(sql.idsStartingWith, prefix, prefix + LAST_CHARACTER, limit);
  const ids = rows.map((row) => row.id);
  return ids[0] === prefix ? [prefix] : ids;
}
