import { type Percentiles, percentilesByRank } from '../core/histogram.ts';
import type { Stats } from '../core/wire.ts';
import type { App } from './app.ts';
import { countStates } from './status.ts';

/** The percentiles and the throughput are computed from at most this many finished attempts, so that the cost is bounded. */
const MAX_SAMPLE = 10_000;
const THROUGHPUT_WINDOW_MS = 5 * 60_000;

export async function stats(app: App): Promise<Stats> {
  const jobs = await countStates(app);
  const sample = await app.store.finishedAttempts(MAX_SAMPLE);
  const completedOrDead = jobs.completed + jobs.dead;
  return {
    jobs,
    success_rate: completedOrDead === 0 ? null : jobs.completed / completedOrDead,
    sampled_attempts: sample.length,
    wait_ms: percentiles(sample.flatMap((one) => one.waitMs ?? [])),
    run_ms: percentiles(sample.flatMap((one) => one.runMs ?? [])),
    throughput_per_minute: throughputPerMinute(sample, app.clock.now()),
  };
}

function percentiles(values: number[]): Percentiles | null {
  if (values.length === 0) return null;
  // A typed array sorts several times as fast as an array.
  const sorted = Float64Array.from(values).sort();
  return percentilesByRank(sorted.length, (rank) => sorted[rank - 1]!);
}

/** Returns the throughput in the window. If the sample is full and covers less time, returns the throughput in that time. */
function throughputPerMinute(sample: { finishedAt: number }[], now: number): number {
  const recent = sample.map((one) => one.finishedAt).filter((at) => at > now - THROUGHPUT_WINDOW_MS);
  if (recent.length === 0) return 0;
  const oldest = recent.reduce((a, b) => Math.min(a, b));
  const span = recent.length === MAX_SAMPLE ? Math.max(1, now - oldest) : THROUGHPUT_WINDOW_MS;
  return Math.round((recent.length / span) * 60_000 * 100) / 100;
}
