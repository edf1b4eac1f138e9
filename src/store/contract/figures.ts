import type { Job } from '../../core/jobs/job.ts';
import type { Figures } from '../../core/rules/figures.ts';
import type { PrunedState } from '../../core/rules/retention.ts';
import type { Tier } from '../../core/rules/tiers.ts';

/**
 * Keeps figures over time. Every change is counted in what is read after its commit. The figures stay when jobs are removed.
 */
export interface FigureStore {
  /** Returns the figures of a range by the steps of its tier, oldest first, without empty steps. The cost depends on the range alone. */
  series(request: SeriesRequest): Promise<({ at: number } & Figures)[]>;
  /** Returns the figures of a range, summed by queue and name. */
  breakdown(request: SeriesRequest): Promise<(Labels & Figures)[]>;
  /** Returns the figures of all time by queue and name. They never fall, but are removed with their queue. */
  totals(): Promise<(Labels & Figures)[]>;
  /** Returns since when each queue's oldest due job has been waiting, or null if it has none. Held and blocked jobs do not count. */
  oldestWaiting(now: number): Promise<{ queue: string; since: number | null }[]>;
  /** Records for how long each queue's oldest due job has been waiting. Writes nothing if none is waiting. */
  sampleWaiting(now: number): Promise<void>;
  /** Returns the size of the write-ahead log, or null for a kind of store without one. */
  walBytes(): Promise<number | null>;
  /** Removes a batch of the figures that are older than the limit of their tier (TIERS). Returns how many were removed. */
  forgetRollups(now: number): Promise<number>;
  /** Returns at most `limit` finished attempts. Those that started last come first. */
  finishedAttempts(limit: number): Promise<FinishedAttempt[]>;
  /** Returns at most `limit` jobs that ended in this state. Those that ended last come first. The cost depends on `limit` alone. */
  lastEnded(state: PrunedState, limit: number): Promise<Job[]>;
}

/** A range from `from` up to, but not including, `to`, and optionally one queue or one name. */
export interface SeriesRequest {
  tier: Tier;
  from: number;
  to: number;
  queue?: string | undefined;
  name?: string | undefined;
}

/** The labels of figures. A job without a name has the name ''. Beyond MAX_NAMES and MAX_PAIRS, new names share the name OTHER_LABEL. */
export interface Labels {
  queue: string;
  name: string;
}

export interface FinishedAttempt {
  /** Null for a retry, as in the figures. */
  waitMs: number | null;
  /** Null if the attempt was stopped, cancelled or lost, as in the figures. */
  runMs: number | null;
  finishedAt: number;
  /** Tells whether the command exited with 0. */
  ok: boolean;
}
