/** The upper bounds of the buckets. All histograms share them, so that they can be added. One more bucket has no bound. */
export const BUCKETS_MS = [
  5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 900_000,
  1_800_000, 3_600_000,
];

export interface Histogram {
  /** The number of values in each bucket, not cumulative. The last bucket has no upper bound. */
  counts: number[];
  sumMs: number;
}

export function emptyHistogram(): Histogram {
  return { counts: new Array(BUCKETS_MS.length + 1).fill(0), sumMs: 0 };
}

/** Returns the index of the bucket that a duration belongs to. */
export function bucketOf(ms: number): number {
  const at = BUCKETS_MS.findIndex((end) => ms <= end);
  return at === -1 ? BUCKETS_MS.length : at;
}

export function countOf({ counts }: Histogram): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Estimates a quantile, with values spread evenly within each bucket. Returns null for an empty histogram. Values beyond the
 * last bound count as that bound.
 */
function quantileMs(histogram: Histogram, part: number): number | null {
  const total = countOf(histogram);
  if (total === 0) return null;
  const rank = part * total;
  let before = 0;
  for (const [i, count] of histogram.counts.entries()) {
    if (count > 0 && before + count >= rank) {
      const start = BUCKETS_MS[i - 1] ?? 0;
      const end = BUCKETS_MS[i] ?? start;
      return Math.round(start + ((end - start) * Math.max(0, rank - before)) / count);
    }
    before += count;
  }
  return BUCKETS_MS.at(-1)!;
}

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

export function percentilesOf(histogram: Histogram): Percentiles | null {
  if (countOf(histogram) === 0) return null;
  const at = (part: number): number => quantileMs(histogram, part)!;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

export function addHistogram(to: Histogram, from: Histogram): void {
  for (const [i, count] of from.counts.entries()) to.counts[i]! += count;
  to.sumMs += from.sumMs;
}
