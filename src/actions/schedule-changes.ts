import { QueueError } from '../core/errors.ts';
import { type JobInput, limitAttempts, withChanges } from '../core/job-input.ts';
import type { Schedule, ScheduleSpec, Timing } from '../core/schedule.ts';
import { readPolicies, readTiming, type ScheduleInput } from './schedule-input.ts';

/** The changes of a schedule. `called` returns the name of a field that the user knows. */
export interface ScheduleChanges {
  when: ScheduleInput;
  job: JobInput;
  called: (field: string) => string;
}

/** Returns the changed schedule. Its timing is the same object if it was not changed. */
export function changedSchedule(before: Schedule, changes: ScheduleChanges, now: number): ScheduleSpec {
  const { when, job, called } = changes;
  if (Object.keys(when).length + Object.keys(job).length === 0)
    throw new QueueError('usage', 'no changes given', 'queuectl help schedule edit');
  return {
    name: before.name,
    timing: changedTiming(before.timing, changes, now),
    ...readPolicies(when, before, called),
    job: changedJob(before.job, job),
  };
}

/** A new expression keeps the time zone, and a new time zone keeps the expression. */
function changedTiming(before: Timing, { when, called }: ScheduleChanges, now: number): Timing {
  const { cron, timezone, every } = when;
  if (cron === undefined && timezone === undefined && every === undefined) return before;
  if (before.kind === 'every' || every !== undefined) return readTiming(when, now, called);
  return readTiming({ cron: cron ?? before.cron, timezone: timezone ?? before.zone }, now, called);
}

/** A command replaces a program with arguments, and the other way round. */
function changedJob(before: JobInput, given: JobInput): JobInput {
  // A schedule of an older version may give an at-most-once job several attempts.
  limitAttempts(before);
  const { command: _, argv: __, ...rest } = before;
  const same = given.command === undefined && given.argv === undefined;
  return withChanges(same ? before : rest, given);
}
