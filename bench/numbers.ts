export interface Summary {
  unit: 'ms' | 'µs' | 'jobs/s' | '/s' | 'MiB' | 'per job';
  runs: number;
  median: number;
  p10: number;
  p90: number;
  p99: number;
}

/** Summarizes values by percentiles, so that a run disturbed by other load hardly counts. */
export function summarize(values: number[], unit: Summary['unit']): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  return { unit, runs: sorted.length, median: at(0.5), p10: at(0.1), p90: at(0.9), p99: at(0.99) };
}

export function format({ unit, median, p10, p90, p99 }: Summary): string {
  const digits = unit === 'per job' ? 2 : unit !== 'ms' || median >= 1000 ? 0 : median < 1 ? 3 : 1;
  const [low, high, tail] = [p10, p90, p99].map((value) => value.toFixed(digits));
  // For a rate, high values are good, so p99 is not shown.
  return `${median.toFixed(digits)} ${unit} (${low}–${high}${unit === 'ms' ? `, ${tail}` : ''})`;
}
