import { COUNT_NAMES, emptyFigures, type Figures } from '../core/rules/figures.ts';
import { addPacked, addSummary, bucketCount } from '../core/rules/histogram.ts';
import type { Labels } from './contract/figures.ts';
import type { Row } from './row.ts';

/** Sums of figures by the values of a column. */
export type FigureSums = Map<Row[string], Figures>;

/** Adds one row to the sums by the values of a column. */
export function addToSums(sums: FigureSums, column: 'at' | 'kind', row: Row): void {
  const key = row[column]!;
  const sum = sums.get(key) ?? emptyFigures();
  addRow(sum, row);
  sums.set(key, sum);
}

/** Returns sums by kind with the queue and the name of each kind. In a damaged store, some may lack them, and are left out. */
export function withLabels(kinds: Row[], sums: FigureSums): (Labels & Figures)[] {
  const labels = new Map(
    kinds.map((row) => [row.number, { queue: row.queue as string, name: row.name as string }]),
  );
  return [...sums].flatMap(([kind, figures]) => {
    const label = labels.get(kind as number);
    return label === undefined ? [] : [{ ...label, ...figures }];
  });
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

/** Returns since when the oldest job has been waiting. A due job counts even if no worker has made it ready yet. */
export function waitingSince(row: Row, now: number): number | null {
  const times = [row.fresh, row.late, row.due].filter(
    (at): at is number => typeof at === 'number' && at <= now,
  );
  return times.length === 0 ? null : Math.min(...times);
}
