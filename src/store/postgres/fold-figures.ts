import { type AttemptOutcome, COUNT_NAMES } from '../../core/rules/figures.ts';
import { addToPacked, bucketOf, type PackedCounts } from '../../core/rules/histogram.ts';
import { inAllTimeAndTiers, MAX_NAMES, MAX_PAIRS, OTHER_LABEL } from '../../core/rules/tiers.ts';
import * as sql from './sql/fold.ts';
import type { Transaction } from './transaction.ts';

/** A row of the log that has a figure. */
export interface LoggedFigure {
  figure: AttemptOutcome | 'enqueued' | 'dropped';
  at: number;
  queue: number;
  name: string;
  jobs: number;
  waitMs: number | null;
  runMs: number | null;
}

/** The times that a fold adds to one row. */
interface Times {
  sumMs: number;
  least: number | null;
  most: number | null;
  buckets: number[];
}

/** What a fold adds to the row of one period and kind. */
interface Sum {
  tier: number;
  at: number;
  kind: number;
  counts: Record<string, number>;
  wait: Times;
  run: Times;
}

const noTimes = (): Times => ({ sumMs: 0, least: null, most: null, buckets: [] });

/** Adds figures to the rows of all time, the minute, the hour and the day, in a transaction that holds the lock of folds. */
export async function addFigures(tx: Transaction, figures: LoggedFigure[]): Promise<void> {
  const kindOf = await kindFinder(tx);
  const sums = new Map<string, Sum>();
  for (const one of figures) {
    const kind = await kindOf(one.queue, one.name);
    inAllTimeAndTiers(one.at, (tier, at) => {
      const key = `${tier} ${at} ${kind}`;
      const sum = sums.get(key) ?? { tier, at, kind, counts: {}, wait: noTimes(), run: noTimes() };
      sums.set(key, sum);
      sum.counts[one.figure] = (sum.counts[one.figure] ?? 0) + one.jobs;
      addTime(sum.wait, one.waitMs);
      addTime(sum.run, one.runMs);
    });
  }
  await writeSums(tx, [...sums.values()]);
}

function addTime(times: Times, ms: number | null): void {
  if (ms === null) return;
  times.sumMs += ms;
  times.least = Math.min(times.least ?? ms, ms);
  times.most = Math.max(times.most ?? ms, ms);
  times.buckets.push(bucketOf(ms));
}

interface PackedRow {
  tier: number;
  at: number;
  kind: number;
  wait: PackedCounts | null;
  run: PackedCounts | null;
}

async function writeSums(tx: Transaction, sums: Sum[]): Promise<void> {
  const keys = [sums.map((sum) => sum.tier), sums.map((sum) => sum.at), sums.map((sum) => sum.kind)];
  const rows = await tx.all<PackedRow>(sql.packedTimes, ...keys);
  const packed = new Map(rows.map((row) => [`${row.tier} ${row.at} ${row.kind}`, row]));
  const timeColumns = (name: 'wait' | 'run') => [
    sums.map((sum) => sum[name].sumMs),
    sums.map((sum) => sum[name].least),
    sums.map((sum) => sum[name].most),
    sums.map((sum) =>
      pack(packed.get(`${sum.tier} ${sum.at} ${sum.kind}`)?.[name] ?? null, sum[name].buckets),
    ),
  ];
  const counts = COUNT_NAMES.map((name) => sums.map((sum) => sum.counts[name] ?? 0));
  await tx.run(sql.addFigures, ...keys, ...counts, ...timeColumns('wait'), ...timeColumns('run'));
}

/** Returns the packed counts with further times, or null if there are none to add. */
function pack(before: PackedCounts | null, buckets: number[]): PackedCounts | null {
  if (buckets.length === 0) return null;
  return buckets.reduce<PackedCounts | null>((counts, bucket) => addToPacked(counts, bucket), before);
}

/** Returns a function that finds the number under which a queue and a name are counted, and adds it on first use. */
export async function kindFinder(tx: Transaction): Promise<(queue: number, name: string) => Promise<number>> {
  const rows = await tx.all<{ number: number; queue: number; name: string }>(sql.kinds);
  const kinds = new Map(rows.map(({ number, queue, name }) => [`${queue} ${name}`, number]));
  const names = new Set(rows.map((row) => row.name).filter((name) => name !== ''));
  let pairs = rows.filter((row) => row.name !== '').length;
  /** Returns the name to count under: OTHER_LABEL if there are too many names, or too many pairs of queue and name. */
  const nameFor = (name: string): string => {
    if (name === '' || name === OTHER_LABEL) return name;
    const fits = pairs < MAX_PAIRS && (names.size < MAX_NAMES || names.has(name));
    return fits ? name : OTHER_LABEL;
  };
  const find = async (queue: number, name: string): Promise<number> => {
    const key = `${queue} ${name}`;
    const known = kinds.get(key);
    if (known !== undefined) return known;
    const allowed = nameFor(name);
    if (allowed !== name) return find(queue, allowed);
    const { number } = (await tx.get<{ number: number }>(sql.insertKind, name, queue))!;
    kinds.set(key, number);
    if (name !== '') {
      names.add(name);
      pairs++;
    }
    return number;
  };
  return find;
}
