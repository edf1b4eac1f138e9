import { statSync } from 'node:fs';
import { COUNTS, type Figures, TIERS, type Tier } from '../../core/figures.ts';
import { BUCKETS_MS } from '../../core/histogram.ts';
import type { Labels, SeriesRequest, Store } from '../store.ts';
import type { Connection, Row } from './connection.ts';
import * as sql from './figures-sql.ts';
import { TIER_NUMBERS } from './rollups.ts';

type FigureVerbs = Pick<
  Store,
  'series' | 'breakdown' | 'totals' | 'oldestWaiting' | 'walBytes' | 'forgetRollups'
>;

/** So many in one transaction: a millisecond for whoever waits for the writer. */
const ROLLUPS_AT_ONCE = 300;

export function figureVerbs(db: Connection): FigureVerbs {
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
    // A look that opens nothing: closing it would drop SQLite's locks.
    walBytes: async () => statSync(`${db.path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    forgetRollups: (now) => forgetRollups(db, now),
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

/** The rows that are asked for: there are never many, however many jobs. */
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
  // Figures whose queue is gone belong to nothing that could be named.
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

/** A job that is due is ready as soon as a worker looks; while there is none, it waits all the same. */
function since(row: Row, now: number): number | null {
  const times = [row.fresh, row.late, row.due].filter(
    (at): at is number => typeof at === 'number' && at <= now,
  );
  return times.length === 0 ? null : Math.min(...times);
}

async function forgetRollups(db: Connection, now: number): Promise<number> {
  for (const tier of Object.keys(TIERS) as Tier[]) {
    const before = now - TIERS[tier].keptMs;
    // A look first: as long as nothing has to go, nobody waits for the writer.
    const some = await db.read(() => db.get(sql.oldRollup, TIER_NUMBERS[tier], before) !== undefined);
    if (some)
      return db.write('forgetRollups', () =>
        db.run(sql.forgetRollups, TIER_NUMBERS[tier], before, ROLLUPS_AT_ONCE),
      );
  }
  return 0;
}
