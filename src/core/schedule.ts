import type { JobSpec } from './job.ts';
import type { JobInput } from './job-fields.ts';
import { toIso } from './time.ts';

/** What happens to a tick while a job of an earlier one is unfinished. */
export const OVERLAPS = ['skip', 'queue', 'allow'] as const;
export type Overlap = (typeof OVERLAPS)[number];

/** Which of the ticks that nobody was there for are made up for. */
export const CATCH_UPS = ['none', 'one', 'all'] as const;
export type CatchUp = (typeof CATCH_UPS)[number];

/** When a schedule fires: by a calendar in a zone, or evenly from a moment on. */
export type Timing =
  | { kind: 'cron'; cron: string; zone: string }
  | { kind: 'every'; everyMs: number; anchorAt: number };

/** What a user decides about a schedule. */
export interface ScheduleSpec {
  name: string;
  timing: Timing;
  overlap: Overlap;
  catchUp: CatchUp;
  /** What is enqueued at every tick; what it leaves open is filled in then. */
  job: JobInput;
}

export interface Schedule extends ScheduleSpec {
  /** The store's number, never reused. */
  number: number;
  createdAt: number;
  pausedAt: number | null;
  pausedBy: string | null;
  /** The next tick; null while it is paused, and when none comes any more. */
  nextAt: number | null;
  /** The last tick that became a job. */
  lastAt: number | null;
  lastJob: string | null;
  /** Ticks that wait for the job before them. */
  waiting: number;
}

/** Bounds the ticks that pile up behind a job that takes longer than its interval. */
export const MOST_WAITING_TICKS = 1000;

/** Makes the job of one tick from the job of its schedule: with its own id, and the tick's nominal time in its environment. */
export function jobOfTick(job: JobSpec, id: string, at: number): JobSpec {
  return { ...job, id, env: { ...job.env, QUEUECTL_SCHEDULED_AT: toIso(at) } };
}
