import type { State } from '../jobs/job.ts';
import type { ReasonCounts } from '../jobs/waiting-reason.ts';
import type { Outcome, Transition } from './decide.ts';
import { addHistogram, emptyHistogram, type Histogram } from './histogram.ts';
import type { Tier } from './tiers.ts';

/** The outcomes by which attempts are counted. After `failed`, `released` and `lost`, the job waits for another attempt. */
export const ATTEMPT_OUTCOMES = ['completed', 'failed', 'dead', 'cancelled', 'released', 'lost'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** The figures of a period of time. */
export interface Figures extends Record<AttemptOutcome, number> {
  enqueued: number;
  /** The number of jobs that were cancelled while they waited. `cancelled` counts those that were running. */
  dropped: number;
  /** The times from due to started, of the first attempt of each job. */
  wait: Histogram;
  /** The run times of attempts that ended as completed, failed or dead, unless they were lost or stopped. */
  run: Histogram;
  /** The longest time that the oldest waiting job was seen waiting. 0 if no job was. It is recorded by queue, not by job name. */
  oldestMs: number;
}

export const COUNT_NAMES = ['enqueued', 'dropped', ...ATTEMPT_OUTCOMES] as const;

/** The ranges of a chart: the tier that is read, the time that a point covers, and the number of points. */
export const PERIODS = {
  '1h': { tier: 'minute', stepMs: 60_000, points: 60 },
  '6h': { tier: 'minute', stepMs: 300_000, points: 72 },
  '24h': { tier: 'minute', stepMs: 900_000, points: 96 },
  '7d': { tier: 'hour', stepMs: 3_600_000, points: 168 },
  '30d': { tier: 'hour', stepMs: 6 * 3_600_000, points: 120 },
  '90d': { tier: 'day', stepMs: 86_400_000, points: 90 },
} as const satisfies Record<string, { tier: Tier; stepMs: number; points: number }>;
export type Period = keyof typeof PERIODS;

export function emptyFigures(): Figures {
  const counts = Object.fromEntries(COUNT_NAMES.map((name) => [name, 0])) as Record<
    (typeof COUNT_NAMES)[number],
    number
  >;
  return { ...counts, wait: emptyHistogram(), run: emptyHistogram(), oldestMs: 0 };
}

export function addFigures(to: Figures, from: Figures): void {
  for (const name of COUNT_NAMES) to[name] += from[name];
  addHistogram(to.wait, from.wait);
  addHistogram(to.run, from.run);
  to.oldestMs = Math.max(to.oldestMs, from.oldestMs);
}

/** Returns the outcome under which an attempt is counted. A lost attempt that made its job dead counts as dead. */
export function attemptOutcome(to: Transition['to'], why: Outcome['why']): AttemptOutcome {
  return to === 'released' && why === 'lost' ? 'lost' : to;
}

/** Tells whether the run time of an attempt is counted: it ended as completed, failed or dead, and was not lost or stopped. */
export function countsRunTime(outcome: AttemptOutcome, why: Outcome['why']): boolean {
  return why !== 'lost' && why !== 'stopped' && ['completed', 'failed', 'dead'].includes(outcome);
}

/** The values from which the metrics are made, read at the time `now`. */
export interface MetricsSnapshot {
  version: string;
  now: number;
  jobs: { queue: string; state: State; jobs: number }[];
  /** `since` is the time since which the oldest runnable job of the queue has been waiting, or null if there is none. */
  waiting: { queue: string; since: number | null }[];
  /** The waiting jobs of each queue by reason. */
  reasons: { queue: string; jobs: ReasonCounts }[];
  totals: ({ queue: string; name: string } & Figures)[];
  workers: { state: string; count: number }[];
  /** `limit` is the concurrency limit of the queue, or null if it has none. */
  slots: { queue: string; total: number; busy: number; limit: number | null }[];
  schedules: { name: string; lastAt: number | null }[];
  walBytes: number | null;
}
