import { statSync } from 'node:fs';
import { COUNT_NAMES, emptyFigures, type Figures } from '../../core/figures.ts';
import { addSummary, bucketCount } from '../../core/histogram.ts';
import { addPacked } from '../../core/packed-counts.ts';
import { TIERS, type Tier } from '../../core/tiers.ts';
import type { FigureStore, FinishedAttempt, Labels, SeriesRequest } from '../contract/figures.ts';
import type { Connection, Row } from './connection.ts';
import { toJob } from './rows.ts';
import * as sql from './sql/figures.ts';
import { inEveryTier, TIER_NUMBERS } from './tally.ts';

/** At most this many rows are removed in one transaction, which delays other writers by a millisecond. */
const ROLLUPS_AT_ONCE = 300;

export function figureStore(db: Connection): FigureStore {
  return {
    series: (request) =>
      db.read(() =>
        [...sumBy('at', rollups(db, request))].map(([at, figures]) => ({ at: at as number, ...figures })),
      ),
    breakdown: (request) => db.read(() => sumByLabels(db, rollups(db, request))),
    totals: () => db.read(() => sumByLabels(db, db.each(sql.rollups, 0, 0, 1))),
    oldestWaiting: (now) =>
      db.read(() => {
        const rows = db.all(sql.oldestWaiting);
        return rows.map((row) => ({ queue: row.name as string, since: waitingSince(row, now) }));
      }),
    sampleWaiting: (now) => sampleWaiting(db, now),
    // The file is not opened, because closing it would drop SQLite's locks.
    walBytes: async () => statSync(`${db.path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    forgetRollups: (now) => forgetRollups(db, now),
    finishedAttempts: (limit) =>
      db.read(() => {
        const rows = db.all<FinishedAttempt>(sql.finishedAttempts, limit);
        return rows.map((row) => ({ ...row, ok: Boolean(row.ok) }));
      }),
    lastEnded: (state, limit) => db.read(() => db.all(sql.lastEnded, state, limit).map(toJob)),
  };
}

/** Reads the rows of a range in the order of time, for all kinds (pairs of queue and name) or for those requested. */
function* rollups(db: Connection, { tier, from, to, queue, name }: SeriesRequest): Iterable<Row> {
  const matches = (row: Row): boolean =>
    (queue === undefined || row.queue === queue) && (name === undefined || row.name === name);
  const isUnfiltered = queue === undefined && name === undefined;
  const matching = isUnfiltered ? [] : db.all(sql.kinds).filter(matches);
  const kinds = new Set(matching.map((row) => row.number));
  for (const row of db.each(sql.rollups, TIER_NUMBERS[tier], from, to))
    if (isUnfiltered || kinds.has(row.kind!)) yield row;
}

function sumByLabels(db: Connection, rows: Iterable<Row>): (Labels & Figures)[] {
  const labels = new Map(
    db.all(sql.kinds).map((row) => [row.number, { queue: row.queue as string, name: row.name as string }]),
  );
  // In a damaged store, figures may lack their labels. They are left out.
  return [...sumBy('kind', rows)].flatMap(([kind, figures]) => {
    const label = labels.get(kind);
    return label === undefined ? [] : [{ ...label, ...figures }];
  });
}

function sumBy(column: 'at' | 'kind', rows: Iterable<Row>): Map<Row[string], Figures> {
  const sums = new Map<Row[string], Figures>();
  for (const row of rows) {
    const key = row[column]!;
    const sum = sums.get(key) ?? emptyFigures();
    addRow(sum, row);
    sums.set(key, sum);
  }
  return sums;
}

/** Adds a row to the sums in place, because a range may have thousands of rows. */
function addRow(sums: Figures, row: Row): void {
  for (const column of COUNT_NAMES) sums[column] += row[column] as number;
  sums.oldestMs = Math.max(sums.oldestMs, row.oldest_ms as number);
  for (const histogram of ['wait', 'run'] as const) {
    if (row[histogram] === null) continue;
    addPacked(sums[histogram].counts, row[histogram] as Uint8Array, bucketCount());
    addSummary(sums[histogram], {
      sumMs: row[`${histogram}_ms`] as number,
      least: row[`${histogram}_least`] as number | null,
      most: row[`${histogram}_most`] as number | null,
    });
  }
}

/** Records how long the oldest waiting job of each queue has been waiting. The figures belong to whole queues, so they have no job names. */
async function sampleWaiting(db: Connection, now: number): Promise<void> {
  // A read comes first, so that other writers do not wait for it, and not at all if no job is waiting.
  const rows = await db.read(() => db.all(sql.oldestWaiting));
  const waits = rows.flatMap((row) => {
    const since = waitingSince(row, now);
    return since === null ? [] : [[row.number, now - since]];
  });
  if (waits.length === 0) return;
  const waitsByQueue = JSON.stringify(Object.fromEntries(waits));
  await db.write('sampleWaiting', () => {
    db.run(sql.addQueueKinds, waitsByQueue);
    inEveryTier(now, (tier, start) => db.run(sql.countWaiting, tier, start, waitsByQueue));
  });
}

/** Returns since when the oldest job has been waiting. A due job counts even if no worker has made it ready yet. */
function waitingSince(row: Row, now: number): number | null {
  const times = [row.fresh, row.late, row.due].filter(
    (at): at is number => typeof at === 'number' && at <= now,
  );
  return times.length === 0 ? null : Math.min(...times);
}

async function forgetRollups(db: Connection, now: number): Promise<number> {
  for (const tier of Object.keys(TIERS) as Tier[]) {
    const before = now - TIERS[tier].keptMs;
    // A read comes first, so that no other writer waits if there is nothing to remove.
    const hasOld = await db.read(() => db.get(sql.anyOldRollup, TIER_NUMBERS[tier], before) !== undefined);
    if (hasOld)
      return db.write('forgetRollups', () =>
        db.run(sql.deleteOldRollups, TIER_NUMBERS[tier], before, ROLLUPS_AT_ONCE),
      );
  }
  return 0;
}
