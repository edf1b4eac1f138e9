import { statSync } from 'node:fs';
import { inEveryTier, TIER_NUMBERS, TIERS, type Tier } from '../../core/rules/tiers.ts';
import type { FigureStore, FinishedAttempt, SeriesRequest } from '../contract/figures.ts';
import { sumBy, waitingSince, withLabels } from '../figure-rows.ts';
import type { Row } from '../row.ts';
import { toJob } from '../rows.ts';
import type { Connection } from './connection.ts';
import * as sql from './sql/figures.ts';

/** At most this many rows are removed in one transaction, which delays other writers by a millisecond. */
const ROLLUPS_AT_ONCE = 300;

export function figureStore(db: Connection): FigureStore {
  return {
    series: (request) =>
      db.read(() =>
        [...sumBy('at', rollups(db, request))].map(([at, figures]) => ({ at: at as number, ...figures })),
      ),
    breakdown: (request) => db.read(() => withLabels(db.all(sql.kinds), sumBy('kind', rollups(db, request)))),
    totals: () => db.read(() => withLabels(db.all(sql.kinds), sumBy('kind', db.each(sql.rollups, 0, 0, 1)))),
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
