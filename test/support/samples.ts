import { addHistogram, bucketOf, type Histogram } from '../../src/core/rules/histogram.ts';
import type { Random } from '../../src/core/time/clock.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { openDatabase } from './database.ts';
import { claim, claimRequest, ending, jobSpec, succeeded } from './jobs.ts';
import { below } from './random.ts';

/** Functions that create durations in milliseconds, by the name of their distribution. */
export const DISTRIBUTIONS: Record<string, (random: Random, count: number) => number[]> = {
  constant: (random, count) => {
    const ms = below(random, 100_000);
    return Array.from({ length: count }, () => ms);
  },
  uniform: (random, count) => Array.from({ length: count }, () => below(random, 60_000)),
  exponential: (random, count) =>
    Array.from({ length: count }, () => Math.floor(-2000 * Math.log(1 - random()))),
  'two peaks': (random, count) =>
    Array.from({ length: count }, () =>
      random() < 0.7 ? 40 + below(random, 20) : 3_600_000 + below(random, 600_000),
    ),
  'one sample': (random) => [below(random, 10_000_000)],
};

/** Adds a time to a histogram. */
export function addTime(histogram: Histogram, ms: number): void {
  addHistogram(histogram, { counts: new Map([[bucketOf(ms), 1]]), sumMs: ms, least: ms, most: ms });
}

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** Returns the real percentiles by nearest rank. */
export function realPercentiles(times: number[]): Percentiles {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (percent: number): number => sorted[Math.ceil((percent * sorted.length) / 100) - 1]!;
  return { p50: at(50), p95: at(95), p99: at(99) };
}

/** Returns the percentiles that are more than 5% away from the real ones, each as a sentence. */
export function deviations(found: Percentiles | null, times: number[]): string[] {
  const real = realPercentiles(times);
  if (found === null) return ['no percentiles'];
  return (['p50', 'p95', 'p99'] as const)
    .filter((name) => Math.abs(found[name] - real[name]) > 0.05 * real[name])
    .map((name) => `${name} is ${found[name]} instead of ${real[name]}`);
}

const HOUR_MS = 3_600_000;
/** The number of attempts that are settled in one transaction. */
const BATCH_SIZE = 500;

/** Stores one attempt for each time, which is both its wait time and its run time. All jobs have this name and finish now. */
export async function storeAttempts(path: string, name: string, times: number[]): Promise<void> {
  const { store } = await openSqlite(path);
  const db = openDatabase(path);
  try {
    const now = Date.now();
    const start = now - 4 * HOUR_MS;
    const id = name.replaceAll(' ', '-');
    await store.insert(
      times.map((_, i) => jobSpec(`${id}-${i}`, { name, queue: 'samples' })),
      start,
    );
    for (let at = 0; at < times.length; at += BATCH_SIZE) {
      const batch = times.slice(at, at + BATCH_SIZE);
      const jobs = await claim(store, { limit: batch.length }, start);
      // The wait times are set here, because a claim for each of them would wait for the disk each time.
      db.exec('BEGIN IMMEDIATE');
      const wait = db.prepare(
        'UPDATE attempt SET wait_ms = ?1, started_at = started_at + ?1 WHERE number = ?2',
      );
      for (const [i, ms] of batch.entries()) wait.run(ms, jobs[i]!.claim.attempt);
      db.exec('COMMIT');
      const settlements = batch.map((ms, i) => ending(jobs[i]!, succeeded, now, { durationMs: ms }));
      await store.claim(claimRequest({ limit: 0, settlements }), now);
    }
  } finally {
    db.close();
    await store.close();
  }
}
