import type { Schedule, ScheduleSpec } from '../core/schedule.ts';
import type { Row } from './row.ts';

/** Returns the values of the columns that a user sets, except the name, in the order of the statements. */
export function scheduleValues({ timing, overlap, catchUp, job }: ScheduleSpec): (string | number | null)[] {
  const when =
    timing.kind === 'cron'
      ? [timing.cron, timing.zone, null, null]
      : [null, null, timing.everyMs, timing.anchorAt];
  return [...when, overlap, catchUp, JSON.stringify(job)];
}

export function toSchedule({ cron, zone, everyMs, anchorAt, job, ...rest }: Row): Schedule {
  const timing = cron === null ? { kind: 'every', everyMs, anchorAt } : { kind: 'cron', cron, zone };
  return { ...rest, timing, job: JSON.parse(job as string) } as unknown as Schedule;
}
