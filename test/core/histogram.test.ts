import { describe, expect, test } from 'bun:test';
import {
  BUCKETS_MS,
  bucketOf,
  emptyHistogram,
  type Histogram,
  percentilesOf,
} from '../../src/core/histogram.ts';
import { below, seededRandom } from '../support/random.ts';

function histogramOf(times: number[]): Histogram {
  const histogram = emptyHistogram();
  for (const ms of times) {
    histogram.counts[bucketOf(ms)]!++;
    histogram.sumMs += ms;
  }
  return histogram;
}

describe('histogram', () => {
  test('a time belongs to the first bucket whose end is not below it', () => {
    expect([0, 5, 6, 3_600_000, 3_600_001].map(bucketOf)).toEqual([0, 0, 1, 17, 18]);
    expect(BUCKETS_MS).toEqual(BUCKETS_MS.toSorted((a, b) => a - b));
  });

  test('percentiles are in the same bucket as the exact ones', () => {
    const random = seededRandom('percentiles');
    for (let round = 0; round < 200; round++) {
      const times = Array.from({ length: 1 + below(random, 300) }, () => Math.floor(10 ** (random() * 7)));
      const sorted = times.toSorted((a, b) => a - b);
      const found = percentilesOf(histogramOf(times))!;
      for (const [part, ms] of [
        [0.5, found.p50],
        [0.95, found.p95],
        [0.99, found.p99],
      ] as const) {
        const real = sorted[Math.ceil(part * sorted.length) - 1]!;
        const bucket = Math.min(bucketOf(real), BUCKETS_MS.length - 1);
        expect(ms).toBeGreaterThanOrEqual(BUCKETS_MS[bucket - 1] ?? 0);
        expect(ms).toBeLessThanOrEqual(BUCKETS_MS[bucket]!);
      }
    }
  });

  test('no samples give no percentiles, and no percentile is above the last bucket', () => {
    expect(percentilesOf(emptyHistogram())).toBeNull();
    expect(percentilesOf(histogramOf([9e9]))).toEqual({ p50: 3_600_000, p95: 3_600_000, p99: 3_600_000 });
  });
});
