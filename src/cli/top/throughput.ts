import type { FinishedAttempt } from '../../store/contract/figures.ts';

/** The counts of a second are kept for this many seconds. No sparkline shows more. */
const KEPT_S = 900;
/** The current rate is the average of this many past seconds. */
const RATE_WINDOW_S = 10;

const BLOCKS = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII = ['.', '_', ':', '-', '=', '+', '*', '%', '#'];

interface SecondCounts {
  completed: number;
  failed: number;
}

/** Maps a Unix time in seconds to the attempts that ended in it. */
export type Throughput = Map<number, SecondCounts>;

/**
 * Adds a sample of the newest attempts. Samples overlap, and a later one may lack the oldest attempts of a second. So the
 * higher count of a second is the right one.
 */
export function record(known: Throughput, sample: FinishedAttempt[], now: number): void {
  const seen: Throughput = new Map();
  for (const { finishedAt, ok } of sample) {
    const second = Math.floor(finishedAt / 1000);
    const counts = seen.get(second) ?? { completed: 0, failed: 0 };
    counts[ok ? 'completed' : 'failed']++;
    seen.set(second, counts);
  }
  const oldest = Math.floor(now / 1000) - KEPT_S;
  for (const [second, { completed, failed }] of seen) {
    const before = known.get(second);
    if (second < oldest) continue;
    known.set(second, {
      completed: Math.max(completed, before?.completed ?? 0),
      failed: Math.max(failed, before?.failed ?? 0),
    });
  }
  for (const second of known.keys()) if (second < oldest) known.delete(second);
}

export function rateNow(known: Throughput, kind: keyof SecondCounts, now: number): number {
  return rates(known, kind, now, 1, RATE_WINDOW_S)[0]!;
}

/** Returns the rate in each of `columns` spans of `seconds`, oldest first, without the current second. */
export function rates(
  known: Throughput,
  kind: keyof SecondCounts,
  now: number,
  columns: number,
  seconds: number,
): number[] {
  const end = Math.floor(now / 1000);
  const sums = Array<number>(columns).fill(0);
  for (let back = 1; back <= columns * seconds; back++)
    sums[columns - Math.ceil(back / seconds)]! += known.get(end - back)?.[kind] ?? 0;
  return sums.map((sum) => sum / seconds);
}

/** Returns a character for each value. Only 0 gets the lowest character. */
export function sparkline(values: number[], ascii: boolean): string {
  const marks = ascii ? ASCII : BLOCKS;
  const top = Math.max(...values);
  return values
    .map((value) => (value <= 0 ? marks[0] : marks[Math.max(1, Math.round((value / top) * 8))]))
    .join('');
}
