import { statSync } from 'node:fs';
import { COUNTS, type Figures, TIERS, type Tier } from '../../core/figures.ts';
import { BUCKETS_MS } from '../../core/histogram.ts';
import type { FigureStore, FinishedAttempt, Labels, SeriesRequest } from '../contract/figures.ts';
import type { Connection, Row } from './connection.ts';
import { TIER_NUMBERS } from './rollups.ts';
import { toJob } from './rows.ts';
import * as sql from './sql/figures.ts';

/** At most this many rows are removed in one transaction, which delays other writers by a millisecond. */
const ROLLUPS_AT_ONCE = 300;

export function figureStore(db: Connection): FigureStore {
  return {
    series: (request) =>
      db.read(() => seriesRows(db, request).map((row) => ({ at: row.at as number, ...toFigures(row) }))),
    breakdown: (request) =>
      db.read(() => named(db, db.all(sql.breakdown, ...range(request), kindsOf(db, request)))),
    totals: () => db.read(() => named(db, db.all(sql.totals))),
    oldestWaiting: (now) =>
      db.read(() =>
        db.all(sql.oldestWaiting).map((row) => ({ queue: row.name as string, since: since(row, now) })),
      ),
    // The file is not opened, because closing it would drop SQLite's locks.
    walBytes: async () => statSync(`${db.path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    forgetRollups: (now) => forgetRollups(db, now),
    finished: (limit) =>
      db.read(() => {
        const rows = db.all<FinishedAttempt>(sql.finishedAttempts, limit);
        return rows.map((row) => ({ ...row, ok: Boolean(row.ok) }));
      }),
    lastEnded: (state, limit) => db.read(() => db.all(sql.lastEnded, state, limit).map(toJob)),
  };
}

function seriesRows(db: Connection, request: SeriesRequest): Row[] {
  const all = request.queue === undefined && request.name === undefined;
  if (all) return db.all(sql.series, ...range(request));
  return db.all(sql.seriesOfKinds, ...range(request), kindsOf(db, request));
}

function range({ tier, from, to }: SeriesRequest): [number, number, number] {
  return [TIER_NUMBERS[tier], from, to];
}

/** Returns the numbers of the matching pairs of queue and name, as JSON. There are few, whatever the number of jobs. */
function kindsOf(db: Connection, { queue, name }: SeriesRequest): string {
  const wanted = db
    .all(sql.kinds)
    .filter(
      (row) => (queue === undefined || row.queue === queue) && (name === undefined || row.name === name),
    );
  return JSON.stringify(wanted.map((row) => row.number));
}

function named(db: Connection, rows: Row[]): (Labels & Figures)[] {
  const labels = new Map(
    db.all(sql.kinds).map((row) => [row.number, { queue: row.queue as string, name: row.name as string }]),
  );
  // Figures of a removed queue have no name.
  return rows.flatMap((row) => {
    const label = labels.get(row.kind!);
    return label === undefined ? [] : [{ ...label, ...toFigures(row) }];
  });
}

function toFigures(row: Row): Figures {
  const counts = Object.fromEntries(COUNTS.map((column) => [column, row[column] as number]));
  const buckets = (letter: string): number[] =>
    Array.from({ length: BUCKETS_MS.length + 1 }, (_, i) => row[letter + i] as number);
  return {
    ...(counts as Record<(typeof COUNTS)[number], number>),
    wait: { counts: buckets('w'), sumMs: row.wait_ms as number },
    run: { counts: buckets('r'), sumMs: row.run_ms as number },
  };
}

/** Returns since when the oldest job has been waiting. A due job counts even if no worker has made it ready yet. */
function since(row: Row, now: number): number | null {
  const times = [row.fresh, row.late, row.due].filter(
    (at): at is number => typeof at === 'number' && at <= now,
  );
  return times.length === 0 ? null : Math.min(...times);
}

async function forgetRollups(db: Connection, now: number): Promise<number> {
  for (const tier of Object.keys(TIERS) as Tier[]) {
    const before = now - TIERS[tier].keptMs;
    // A read comes first, so that no other writer waits if there is nothing to remove.
    const some = await db.read(() => db.get(sql.oldRollup, TIER_NUMBERS[tier], before) !== undefined);
    if (some)
      return db.write('forgetRollups', () =>
        db.run(sql.forgetRollups, TIER_NUMBERS[tier], before, ROLLUPS_AT_ONCE),
      );
  }
  return 0;
}
