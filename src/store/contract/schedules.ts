import type { Job, JobSpec } from '../../core/jobs/job.ts';
import type { Pause } from '../../core/rules/queue.ts';
import type { Schedule, ScheduleSpec } from '../../core/schedules/schedule.ts';

/** Keeps schedules and turns their ticks into jobs, each tick once. */
export interface ScheduleStore {
  /** Adds a schedule. Refuses a name that is taken. */
  addSchedule(spec: ScheduleSpec, nextAt: number, now: number): Promise<Schedule>;
  /** Returns all schedules, ordered by name. */
  schedules(): Promise<Schedule[]>;
  /**
   * Replaces the timing, the job and the policies of the schedule with this name. Returns null if there is none. `nextAt`
   * becomes its next tick unless it is paused; null keeps the current one. Waiting ticks stay.
   */
  editSchedule(spec: ScheduleSpec, nextAt: number | null): Promise<Schedule | null>;
  /** Removes a schedule but not its jobs. Returns false if there is none with this name. */
  removeSchedule(name: string): Promise<boolean>;
  /** Pauses a schedule, or resumes it (`paused` is null) with this next tick. Returns null if there is none with this name. */
  pauseSchedule(name: string, paused: Pause | null, nextAt: number | null): Promise<Schedule | null>;
  /**
   * Returns at most `limit` schedules with a due tick, or with a waiting tick that can be enqueued now. They are ordered by
   * their numbers, which are all higher than `after`.
   */
  dueSchedules(now: number, after: number, limit: number): Promise<Schedule[]>;
  /**
   * Moves schedules to their next ticks and enqueues their due ticks, in one transaction. Returns the ticks of each firing, in
   * the same order. Changes nothing of a schedule, and returns null for it, if it was removed, paused or moved since the
   * caller read it. So only one of several callers succeeds. Throws, and changes nothing at all, if a job cannot be added.
   *
   * - A tick that was handled before is left out, even if the clock was set back by up to 6 hours since then.
   * - While a job of the schedule is unfinished, a tick is enqueued, waits or is skipped, depending on `overlap`. Waiting
   *   ticks come before new ones.
   * - A tick is skipped if the unique key of its job is taken.
   */
  fire(firings: Firing[], now: number): Promise<(FiredTick[] | null)[]>;
  /**
   * Adds a job for the schedule immediately, even if another one runs. It does not count as a scheduled tick. If its unique key
   * is taken, returns the job that has it, marked `existing`. Returns null if there is no schedule with this name.
   */
  fireNow(name: string, job: JobSpec, now: number): Promise<Job | null>;
}

export interface Firing {
  /** The schedule as the caller read it. */
  schedule: Schedule;
  /** The tick after the due ones, or null if there is none. */
  nextAt: number | null;
  /** The due ticks, oldest first, each with the id of its job. While a job is unfinished, ticks without `mayWait` are skipped. */
  ticks: { at: number; mayWait: boolean; jobId: string }[];
  /** The ids for the jobs of the ticks that are waiting already, oldest first. There are `schedule.waiting` of them. */
  waitingJobIds: string[];
  /** The template of the jobs of all ticks. `jobOfTick` (core/schedules/schedule.ts) makes the job of one tick from it. */
  job: JobSpec;
}

export interface FiredTick {
  at: number;
  /** Null if the tick waits for the previous job, or was skipped because of that job or because its own unique key is taken. */
  job: Job | null;
  waits: boolean;
}
