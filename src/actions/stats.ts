import { nearestRanks, type Percentiles } from '../core/histogram.ts';
import type { State } from '../core/job.ts';
import type { App } from './app.ts';
import { countStates } from './status.ts';

/** Percentiles come from so many of the newest attempts: a bounded cost, whatever the history. */
const SAMPLE = 10_000;
const WINDOW_MS = 5 * 60_000;

export interface Stats {
  jobs: Record<State, number>;
  /** Completed of all that ended as completed or dead; null before any did. */
  success_rate: number | null;
  sampled_attempts: number;
  wait_ms: Percentiles | null;
  run_ms: Percentiles | null;
  /** Attempts finished per minute over the last five. */
  throughput_per_minute: number;
}

export async function stats(app: App): Promise<Stats> {
  const jobs = await countStates(app);
  const sample = await app.store.finished(SAMPLE);
  const ended = jobs.completed + jobs.dead;
  return {
    jobs,
    success_rate: ended === 0 ? null : jobs.completed / ended,
    sampled_attempts: sample.length,
    wait_ms: percentiles(sample.flatMap((one) => one.waitMs ?? [])),
    run_ms: percentiles(sample.flatMap((one) => one.runMs ?? [])),
    throughput_per_minute: perMinute(
      sample.map((one) => one.finishedAt),
      app.clock.now(),
    ),
  };
}

function percentiles(values: number[]): Percentiles | null {
  if (values.length === 0) return null;
  // Numbers in a row sort several times as fast as an array.
  const sorted = Float64Array.from(values).sort();
  return nearestRanks(sorted.length, (rank) => sorted[rank - 1]!);
}

/** When the sample is full before it reaches back five minutes, the time that it does reach back counts. */
function perMinute(finishedAt: number[], now: number): number {
  const recent = finishedAt.filter((at) => at > now - WINDOW_MS);
  if (recent.length === 0) return 0;
  const oldest = recent.reduce((a, b) => Math.min(a, b));
  const span = recent.length === SAMPLE ? Math.max(1, now - oldest) : WINDOW_MS;
  return Math.round((recent.length / span) * 60_000 * 100) / 100;
}
