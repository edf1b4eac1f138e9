import type { App } from '../actions/app.ts';
import { enqueuedJobObjects, jobObject } from '../actions/jobs.ts';
import { toScheduleObject } from '../actions/schedule-object.ts';
import type { GoneJob, Job } from '../core/job.ts';
import { type JobObject, toJobObject } from '../core/job-object.ts';
import { masked } from '../core/mask.ts';
import type { Schedule } from '../core/schedule.ts';
import type { JobWithReason } from '../core/waiting-reason.ts';
import type { ScheduleObject } from '../core/wire.ts';

/** Returns a job as the HTTP API shows it, with secrets masked. */
export async function maskedJob(app: App, job: Job): Promise<JobObject> {
  return masked(await jobObject(app, job));
}

/** Returns the jobs of an enqueue as the HTTP API shows them, with secrets masked. */
export async function maskedEnqueued(app: App, jobs: (Job | GoneJob)[]): Promise<(JobObject | GoneJob)[]> {
  return (await enqueuedJobObjects(app, jobs)).map(masked);
}

/** Returns a job as lists show it, with secrets masked and without reading its stdin. */
export function maskedListedJob(job: JobWithReason): JobObject {
  return masked(toJobObject(job));
}

export async function maskedSchedule(schedule: Schedule, now: number): Promise<ScheduleObject> {
  return masked(await toScheduleObject(schedule, now));
}
