import type { Transition } from './decide.ts';
import { addHistogram, emptyHistogram, type Histogram } from './histogram.ts';
import type { State } from './job.ts';
import type { Outcome } from './outcome.ts';

/** What came of an attempt, as it is counted. `failed` is tried again; `lost` and `released` cost the job no attempt. */
export const ATTEMPT_OUTCOMES = ['completed', 'failed', 'dead', 'cancelled', 'released', 'lost'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** What happened in a stretch of time. */
export interface Figures extends Record<AttemptOutcome, number> {
  enqueued: number;
  /** Jobs that were cancelled while they waited; `cancelled` counts those that ran. */
  dropped: number;
  /** From due to started, of first attempts only: a retry would wait for its backoff. */
  wait: Histogram;
  /** Of attempts that ended as completed, failed or dead, unless lost. */
  run: Histogram;
}

export const COUNTS = ['enqueued', 'dropped', ...ATTEMPT_OUTCOMES] as const;

/** Figures are kept by the minute, the hour and the day (UTC), each for so long, and once for all time. */
const DAY = 86_400_000;
export const TIERS = {
  minute: { stepMs: 60_000, keptMs: 7 * DAY },
  hour: { stepMs: 3_600_000, keptMs: 90 * DAY },
  day: { stepMs: DAY, keptMs: 730 * DAY },
} as const;
export type Tier = keyof typeof TIERS;

/** So many names, and pairs of queue and name, have figures of their own; the rest share a name. */
export const MOST_NAMES = 200;
export const MOST_PAIRS = 500;
export const OTHER = 'other';

export function noFigures(): Figures {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, 0])) as Record<
    (typeof COUNTS)[number],
    number
  >;
  return { ...counts, wait: emptyHistogram(), run: emptyHistogram() };
}

export function addFigures(to: Figures, from: Figures): void {
  for (const name of COUNTS) to[name] += from[name];
  addHistogram(to.wait, from.wait);
  addHistogram(to.run, from.run);
}

export function outcomeOf(to: Transition['to'], why: Outcome['why']): AttemptOutcome {
  return to === 'released' && why === 'lost' ? 'lost' : to;
}

/** Whether the time it ran says something about the command. */
export function tellsRunTime(outcome: AttemptOutcome, why: Outcome['why']): boolean {
  return (
    why !== 'lost' &&
    why !== 'stopped' &&
    (outcome === 'completed' || outcome === 'failed' || outcome === 'dead')
  );
}

/** Everything that metrics are made of. */
export interface Snapshot {
  version: string;
  now: number;
  jobs: { queue: string; state: State; jobs: number }[];
  /** Since when the oldest job of a queue that could run has been waiting; null: none waits. */
  waiting: { queue: string; since: number | null }[];
  totals: ({ queue: string; name: string } & Figures)[];
  workers: { state: string; workers: number }[];
  /** `limit`: the queue's own; null: it has none. */
  slots: { queue: string; total: number; busy: number; limit: number | null }[];
  schedules: { name: string; lastAt: number | null }[];
  walBytes: number | null;
}
