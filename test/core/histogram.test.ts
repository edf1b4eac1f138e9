import { describe, expect, test } from 'bun:test';
import {
  addHistogram,
  bucketCount,
  bucketOf,
  countUpTo,
  emptyHistogram,
  type Histogram,
  METRIC_BOUNDS_MS,
  percentilesOf,
  sampleCount,
} from '../../src/core/rules/histogram.ts';
import { LATEST_DATE_MS } from '../../src/core/time/time.ts';
import { below, seededRandom } from '../support/random.ts';
import { addTime, DISTRIBUTIONS, deviations, realPercentiles } from '../support/samples.ts';

function histogramOf(times: number[]): Histogram {
  const histogram = emptyHistogram();
  for (const ms of times) addTime(histogram, ms);
  return histogram;
}

describe('percentiles', () => {
  for (const [shape, make] of Object.entries(DISTRIBUTIONS))
    test(`of 10,000 samples (${shape}) are within 5% of the real ones`, () => {
      const random = seededRandom(shape);
      for (let round = 0; round < 20; round++) {
        const times = make(random, 10_000);
        expect(deviations(percentilesOf(histogramOf(times)), times)).toEqual([]);
      }
    });

  test('of few samples are within 5% of the real ones, in order, and never outside the range of the samples', () => {
    const random = seededRandom('few samples');
    for (let round = 0; round < 2000; round++) {
      const times = Array.from({ length: 1 + below(random, 30) }, () => Math.floor(10 ** (random() * 9)));
      const found = percentilesOf(histogramOf(times))!;
      expect(deviations(found, times)).toEqual([]);
      expect(found.p50).toBeGreaterThanOrEqual(Math.min(...times));
      expect(found.p99).toBeLessThanOrEqual(Math.max(...times));
      expect([found.p50, found.p95, found.p99]).toEqual(
        [found.p50, found.p95, found.p99].toSorted((a, b) => a - b),
      );
    }
  });

  test('of one sample, two samples and equal samples are exact, and null without samples', () => {
    for (const times of [[0], [1750], [3, 291_000], [7, 7, 7, 7], [LATEST_DATE_MS]])
      expect(percentilesOf(histogramOf(times))).toEqual(realPercentiles(times));
    expect(percentilesOf(emptyHistogram())).toBeNull();
  });

  test('are the same if the histograms of parts of the samples are added', () => {
    const random = seededRandom('parts');
    const times = Array.from({ length: 1000 }, () => Math.floor(10 ** (random() * 6)));
    const sum = emptyHistogram();
    for (let at = 0; at < times.length; at += 7) addHistogram(sum, histogramOf(times.slice(at, at + 7)));
    expect(sum).toEqual(histogramOf(times));
  });
});

describe('buckets', () => {
  test('are narrow: the longest time of a bucket is at most a tenth above the shortest', () => {
    let shortest = 0;
    for (let ms = 0; ms < 1_000_000; ms++) {
      if (bucketOf(ms) !== bucketOf(shortest)) shortest = ms;
      if (ms > shortest && ms / shortest > 1.1) throw new Error(`${shortest} and ${ms} share a bucket`);
    }
    for (let ms = 1_000_000; ms * 1.1 < LATEST_DATE_MS; ms = Math.ceil(ms * 1.1))
      expect(bucketOf(Math.ceil(ms * 1.1))).toBeGreaterThan(bucketOf(ms));
    expect(bucketOf(LATEST_DATE_MS)).toBe(bucketCount() - 1);
    expect(bucketOf(Number.MAX_VALUE)).toBe(bucketCount() - 1);
  });

  test('add up to the buckets of the metrics', () => {
    const random = seededRandom('metrics');
    const near = METRIC_BOUNDS_MS.flatMap((bound) => [bound - 1, bound, bound + 1]);
    const times = [...near, ...Array.from({ length: 1000 }, () => Math.floor(10 ** (random() * 8)))];
    const histogram = histogramOf(times);
    for (const bound of METRIC_BOUNDS_MS)
      expect([bound, countUpTo(histogram, bound)]).toEqual([bound, times.filter((ms) => ms <= bound).length]);
    expect(sampleCount(histogram)).toBe(times.length);
    expect(histogram.sumMs).toBe(times.reduce((sum, ms) => sum + ms, 0));
  });
});
