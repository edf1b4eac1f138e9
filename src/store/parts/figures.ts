import type { Figures } from '../../core/rules/figures.ts';
import { inEveryTier, TIER_NUMBERS, TIERS, type Tier } from '../../core/rules/tiers.ts';
import type { FigureStore, FinishedAttempt, Labels, SeriesRequest } from '../contract/figures.ts';
import { addToSums, type FigureSums, waitingSince, withLabels } from '../figure-rows.ts';
import type { Row } from '../row.ts';
import { toJob } from '../rows.ts';
import { all, type Engine, nothing, run, type Steps, statementsOf, together } from '../steps.ts';
import {
  type Kind,
  kindFinder,
  type LoggedFigure,
  readKinds,
  rollupRow,
  selectFigures,
  sumFigures,
} from './fold-figures.ts';
import { foldLog, lockLog, readFolded } from './log.ts';

export const figureStatements = statementsOf(({ selectJob, oldestWaiting }) => ({
  oldestWaiting,
  /** Reads a range of one tier by the primary key, so that only the rows of the range are read. */
  rollups: 'SELECT * FROM rollup WHERE tier = $1 AND at >= $2 AND at < $3 ORDER BY tier, at, kind',
  unfolded: `${selectFigures('JOIN')} WHERE figure IS NOT NULL ORDER BY seq`,
  countWaiting: `INSERT INTO rollup (tier, at, kind, oldest_ms) VALUES ($1, $2, $3, $4) ON CONFLICT (tier, at, kind) DO UPDATE
    SET oldest_ms = CASE WHEN excluded.oldest_ms > rollup.oldest_ms THEN excluded.oldest_ms ELSE rollup.oldest_ms END`,
  /** At most this many rows are removed in one transaction, besides others of the same time. */
  oldRollups: 'SELECT at FROM rollup WHERE tier = $1 AND at < $2 ORDER BY tier, at, kind LIMIT 300',
  deleteRollups: 'DELETE FROM rollup WHERE tier = $1 AND at <= $2',
  /** Reads the newest attempts. A time is null where the figures do not count it either. */
  finishedAttempts: `SELECT CASE WHEN ordinal = 1 THEN wait_ms END AS "waitMs",
    CASE WHEN why IN ('exited', 'timeout', 'spawn-error') THEN coalesce(duration_ms, finished_at - started_at) END AS "runMs",
    finished_at AS "finishedAt", why = 'exited' AND exit_code = 0 AS ok
    FROM attempt WHERE finished_at IS NOT NULL ORDER BY number DESC LIMIT $1`,
  lastEnded: `${selectJob} WHERE phase = 'ended' AND state = $1 ORDER BY finished_at DESC, job.number DESC LIMIT $2`,
}));

export function figurePart(db: Engine): Omit<FigureStore, 'walBytes'> {
  const sql = figureStatements(db.dialect);
  return {
    series: (request) =>
      readFolded(db, function* (): Steps<({ at: number } & Figures)[]> {
        const { sums } = yield* sumRollups(db, 'at', request, TIER_NUMBERS[request.tier]);
        const times = [...sums].map(([at, figures]) => ({ at: at as number, ...figures }));
        // Figures that are not folded yet may belong to an earlier time than others.
        return times.sort((a, b) => a.at - b.at);
      }),
    breakdown: (request) => readFolded(db, () => sumsOfKinds(db, request, TIER_NUMBERS[request.tier])),
    totals: () => readFolded(db, () => sumsOfKinds(db, { from: 0, to: 1 }, 0)),
    oldestWaiting: async (now) => {
      const rows = await db.read(() => all(sql.oldestWaiting));
      return rows.map((row) => ({ queue: row.name as string, since: waitingSince(row, now) }));
    },
    sampleWaiting: (now) => sampleWaiting(db, now),
    forgetRollups: (now) => forgetRollups(db, now),
    async finishedAttempts(limit) {
      const rows = await db.read(() => all<FinishedAttempt>(sql.finishedAttempts, limit));
      return rows.map((row) => ({ ...row, ok: Boolean(row.ok) }));
    },
    lastEnded: async (state, limit) => (await db.read(() => all(sql.lastEnded, state, limit))).map(toJob),
  };
}

type Range = Pick<SeriesRequest, 'from' | 'to' | 'queue' | 'name'>;

function* sumsOfKinds(db: Engine, range: Range, tier: number): Steps<(Labels & Figures)[]> {
  const { sums, kinds } = yield* sumRollups(db, 'kind', range, tier);
  const labels = kinds.filter(({ label }) => label !== null);
  return withLabels(
    labels.map(({ number, label, name }) => ({ number, queue: label, name })),
    sums,
  );
}

/** Sums the figures of a range, and what the log adds to them, for all kinds or for those requested. */
function* sumRollups(
  db: Engine,
  column: 'at' | 'kind',
  { from, to, queue, name }: Range,
  tier: number,
): Steps<{ sums: FigureSums; kinds: Kind[] }> {
  const sql = figureStatements(db.dialect);
  const kinds = yield* readKinds();
  const unfolded = yield* all<LoggedFigure>(sql.unfolded);
  // The fold will add kinds that are missing. No number of a row is negative.
  const kindOf = yield* kindFinder(kinds, () => nothing(-kinds.length - 1));
  const logged = yield* sumFigures(unfolded, kindOf);
  const isWanted = (kind: Kind): boolean =>
    (queue === undefined || kind.label === queue) && (name === undefined || kind.name === name);
  const wanted = new Set(kinds.filter(isWanted).map((kind) => kind.number));
  const isUnfiltered = queue === undefined && name === undefined;
  const sums: FigureSums = new Map();
  const add = (row: Row): void => {
    if (isUnfiltered || wanted.has(row.kind as number)) addToSums(sums, column, row);
  };
  yield* db.each(sql.rollups, add, tier, from, to);
  for (const sum of logged) if (sum.tier === tier && sum.at >= from && sum.at < to) add(rollupRow(sum));
  return { sums, kinds };
}

/** Records how long the oldest waiting job of each queue has been waiting. The figures belong to whole queues, so they have no job names. */
async function sampleWaiting(db: Engine, now: number): Promise<void> {
  const sql = figureStatements(db.dialect);
  const isWaiting = (row: Row): boolean => waitingSince(row, now) !== null;
  // A read comes first, so that nobody waits for a writer if no job is waiting.
  const rows = (await db.glance(() => all(sql.oldestWaiting))).filter(isWaiting);
  if (rows.length === 0) return;
  await db.write('sampleWaiting', function* (): Steps<void> {
    yield* lockLog(db);
    const kindOf = yield* kindFinder();
    const periods: Steps<number>[] = [];
    for (const row of (yield* all(sql.oldestWaiting)).filter(isWaiting)) {
      const kind = yield* kindOf({ queue: row.number as number, label: row.name as string, name: '' });
      const ms = now - waitingSince(row, now)!;
      inEveryTier(now, (tier, start) => periods.push(run(sql.countWaiting, tier, start, kind, ms)));
    }
    yield* together(...periods);
  });
}

async function forgetRollups(db: Engine, now: number): Promise<number> {
  const sql = figureStatements(db.dialect);
  await foldLog(db);
  for (const tier of Object.keys(TIERS) as Tier[]) {
    // A read comes first, so that nobody waits for a writer if there is nothing to remove.
    const before = now - TIERS[tier].keptMs;
    const old = await db.glance(() => all<{ at: number }>(sql.oldRollups, TIER_NUMBERS[tier], before));
    if (old.length === 0) continue;
    return db.write('forgetRollups', function* (): Steps<number> {
      yield* lockLog(db);
      return yield* run(sql.deleteRollups, TIER_NUMBERS[tier], old.at(-1)!.at);
    });
  }
  return 0;
}
