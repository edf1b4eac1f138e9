import { inEveryTier, TIER_NUMBERS, TIERS, type Tier } from '../../core/rules/tiers.ts';
import type { FigureStore, FinishedAttempt, SeriesRequest } from '../contract/figures.ts';
import { addToSums, type FigureSums, waitingSince, withLabels } from '../figure-rows.ts';
import type { Row } from '../row.ts';
import { toJob } from '../rows.ts';
import type { ServerConnection } from './connection.ts';
import { lockFold, readFolded } from './fold.ts';
import { kindFinder } from './fold-figures.ts';
import * as sql from './sql/figures.ts';
import type { Transaction } from './transaction.ts';

/** Workers append changes to a log. Before figures are read, the log is added to them (fold.ts), so that every committed change counts. */
export function figureStore(db: ServerConnection): FigureStore {
  return {
    series: (request) =>
      readFolded(db, async (tx) =>
        [...(await sumsOf(tx, 'at', request))].map(([at, figures]) => ({ at: at as number, ...figures })),
      ),
    breakdown: (request) =>
      readFolded(db, async (tx) => withLabels(await tx.all(sql.kinds), await sumsOf(tx, 'kind', request))),
    totals: () =>
      readFolded(db, async (tx) =>
        withLabels(await tx.all(sql.kinds), await sumRollups(tx, 'kind', 0, 0, 1, null)),
      ),
    oldestWaiting: (now) =>
      db.read(async (tx) => {
        const rows = await tx.all(sql.oldestWaiting);
        return rows.map((row) => ({ queue: row.name as string, since: waitingSince(row, now) }));
      }),
    sampleWaiting: (now) => sampleWaiting(db, now),
    walBytes: async () => null,
    forgetRollups: (now) => forgetRollups(db, now),
    finishedAttempts: (limit) =>
      db.read(async (tx) => {
        const rows = await tx.all<FinishedAttempt>(sql.finishedAttempts, limit);
        return rows.map((row) => ({ ...row, ok: Boolean(row.ok) }));
      }),
    lastEnded: (state, limit) =>
      db.read(async (tx) => (await tx.all(sql.lastEnded, state, limit)).map(toJob)),
  };
}

/** Sums the figures of a range, for all kinds or for those requested. */
async function sumsOf(
  tx: Transaction,
  column: 'at' | 'kind',
  { tier, from, to, queue, name }: SeriesRequest,
): Promise<FigureSums> {
  const isWanted = (kind: Row): boolean =>
    (queue === undefined || kind.queue === queue) && (name === undefined || kind.name === name);
  const isUnfiltered = queue === undefined && name === undefined;
  const kinds = isUnfiltered
    ? null
    : (await tx.all(sql.kinds)).filter(isWanted).map((kind) => kind.number as number);
  return sumRollups(tx, column, TIER_NUMBERS[tier], from, to, kinds);
}

/** Reads the rows of a range in the order of time, and never holds all of them in memory. */
async function sumRollups(
  tx: Transaction,
  column: 'at' | 'kind',
  tier: number,
  from: number,
  to: number,
  kinds: number[] | null,
): Promise<FigureSums> {
  const sums: FigureSums = new Map();
  for await (const row of tx.each(sql.rollups, tier, from, to, kinds)) addToSums(sums, column, row);
  return sums;
}

async function sampleWaiting(db: ServerConnection, now: number): Promise<void> {
  const readWaiting = async (tx: Pick<Transaction, 'all'>): Promise<Row[]> =>
    (await tx.all(sql.oldestWaiting)).filter((row) => waitingSince(row, now) !== null);
  // A read comes first, so that no fold waits if no job is waiting.
  if ((await readWaiting(db)).length === 0) return;
  await db.write('sampleWaiting', async (tx) => {
    await lockFold(tx);
    const kindOf = await kindFinder(tx);
    const periods: [tier: number, start: number, kind: number, ms: number][] = [];
    for (const row of await readWaiting(tx)) {
      // The figure belongs to the whole queue, so it has no job name.
      const kind = await kindOf(row.number as number, '');
      inEveryTier(now, (tier, start) => periods.push([tier, start, kind, now - waitingSince(row, now)!]));
    }
    const column = (i: number): number[] => periods.map((period) => period[i]!);
    await tx.run(sql.countWaiting, column(0), column(1), column(2), column(3));
  });
}

async function forgetRollups(db: ServerConnection, now: number): Promise<number> {
  const tiers = Object.keys(TIERS) as Tier[];
  const ends = tiers.map((tier) => now - TIERS[tier].keptMs);
  // A read comes first, so that no fold waits if there is nothing to remove.
  const [old] = await db.all<{ tier: number; end: number }>(
    sql.oldRollups,
    tiers.map((tier) => TIER_NUMBERS[tier]),
    ends,
  );
  if (old === undefined) return 0;
  return db.write('forgetRollups', async (tx) => {
    await lockFold(tx);
    return tx.run(sql.deleteOldRollups, old.tier, old.end);
  });
}
