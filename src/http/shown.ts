import type { App } from '../actions/app.ts';
import { addedObject } from '../actions/jobs.ts';
import { toScheduleObject } from '../actions/schedule-object.ts';
import type { GoneJob, Job } from '../core/job.ts';
import { type JobObject, toJobObject } from '../core/job-object.ts';
import { masked } from '../core/mask.ts';
import type { Schedule } from '../core/schedule.ts';
import type { ScheduleObject } from '../core/wire.ts';

/** Whoever has the address sees a job or a schedule like this, and never the value of a variable that looks secret. */
export async function shownJob(app: App, job: Job | GoneJob): Promise<JobObject | GoneJob> {
  return masked(await addedObject(app, job));
}

/** The same in a list, which leaves stdin unread. */
export function listedJob(job: Job): JobObject {
  return masked(toJobObject(job));
}

export async function shownSchedule(schedule: Schedule, now: number): Promise<ScheduleObject> {
  return masked(await toScheduleObject(schedule, now));
}
