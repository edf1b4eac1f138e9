import type { JobSpec } from '../jobs/job.ts';
import type { JobInput } from '../jobs/job-input.ts';
import { toIso } from '../time/time.ts';

/** The choices for a tick while the job of an earlier tick is unfinished: skip it, let it wait, or start its job. */
export const OVERLAPS = ['skip', 'queue', 'allow'] as const;
export type Overlap = (typeof OVERLAPS)[number];

/** The missed ticks that are fired later: none, the last one, or all of them. */
export const CATCH_UPS = ['none', 'one', 'all'] as const;
export type CatchUp = (typeof CATCH_UPS)[number];

/** The times at which a schedule fires: by a cron expression in a time zone, or at a fixed interval counted from `anchorAt`. */
export type Timing =
  | { kind: 'cron'; cron: string; zone: string }
  | { kind: 'every'; everyMs: number; anchorAt: number };

/** The properties of a schedule that a user sets. */
export interface ScheduleSpec {
  name: string;
  timing: Timing;
  overlap: Overlap;
  catchUp: CatchUp;
  /** The job of every tick. Fields that it leaves out are filled in when the tick fires. */
  job: JobInput;
}

/** The timing and the policies of a schedule as a user gives them. The timing is either `cron` or `every`. */
export interface ScheduleInput {
  /** A cron expression, such as `30 2 * * *` or `@daily`. */
  cron?: string | undefined;
  /** The time zone of `cron`. The default is the time zone of this machine. */
  timezone?: string | undefined;
  /** The interval in seconds, or as a text such as `90s`. */
  every?: number | string | undefined;
  overlap?: string | undefined;
  catch_up?: string | undefined;
}

/** Returns the queue of the jobs of a schedule. */
export const queueOf = ({ job }: Pick<ScheduleSpec, 'job'>): string => job.queue ?? 'default';

export interface Schedule extends ScheduleSpec {
  /** The store's number of the schedule. It is never reused. */
  number: number;
  createdAt: number;
  pausedAt: number | null;
  pausedBy: string | null;
  /** The next tick. Null while the schedule is paused, or if no tick will come. */
  nextAt: number | null;
  /** The last tick that became a job. */
  lastAt: number | null;
  /** The id of the job of that tick. */
  lastJob: string | null;
  /** The number of ticks that wait for an earlier job to end. */
  waiting: number;
}

/** The shortest interval of a schedule. */
export const SHORTEST_INTERVAL_MS = 1000;
/** The maximum number of waiting ticks of one schedule. */
export const MAX_WAITING_TICKS = 1000;
/** A clock may be set back by this much without repeating a tick. */
export const TICKS_KEPT_MS = 6 * 3_600_000;

/** Makes the job of one tick from the job of its schedule, with an id of its own and the scheduled time in its environment. */
export function jobOfTick(job: JobSpec, id: string, at: number): JobSpec {
  return { ...job, id, env: { ...job.env, QUEUECTL_SCHEDULED_AT: toIso(at) } };
}
