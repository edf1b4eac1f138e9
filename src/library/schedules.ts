import { actorOf } from '../actions/actor.ts';
import type { App } from '../actions/app.ts';
import { jobObject } from '../actions/jobs.ts';
import { readScheduleInput, type ScheduleInput } from '../actions/schedule-input.ts';
import { toScheduleObject } from '../actions/schedule-object.ts';
import {
  addSchedule,
  listSchedules,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  runSchedule,
} from '../actions/schedules.ts';
import type { JobInput } from '../core/job-input.ts';
import type { JobObject } from '../core/job-object.ts';
import type { Schedule } from '../core/schedule.ts';
import type { ScheduleObject } from '../core/wire.ts';
import type { EnqueueInput } from './queue.ts';

export interface NewSchedule extends ScheduleInput {
  name: string;
  /** The job to enqueue at each run. A plain string is a shell command. */
  job: EnqueueInput | string;
  overlap?: 'skip' | 'queue' | 'allow';
  catch_up?: 'none' | 'one' | 'all';
}

/** Manages schedules. Running workers enqueue their jobs, one for each run. */
export interface Schedules {
  /** Throws if the name is already used. */
  add(schedule: NewSchedule): Promise<ScheduleObject>;
  /** Returns all schedules by name. */
  list(): Promise<ScheduleObject[]>;
  /** Removes a schedule. Its enqueued jobs stay. */
  remove(name: string): Promise<ScheduleObject>;
  pause(name: string, by?: string): Promise<ScheduleObject>;
  /** Continues with the next run. Runs missed during the pause are skipped. */
  resume(name: string): Promise<ScheduleObject>;
  /** Enqueues a job of the schedule now, even if it is paused. */
  run(name: string): Promise<JobObject>;
}

export function schedules(app: App, read: (job: EnqueueInput | string) => JobInput): Schedules {
  const shown = (schedule: Schedule): Promise<ScheduleObject> => toScheduleObject(schedule, app.clock.now());
  return {
    async add({ name, job: given, ...when }) {
      const job = read(given);
      const spec = {
        name,
        ...readScheduleInput(when, app.clock.now()),
        job: { ...job, cwd: job.cwd ?? process.cwd() },
      };
      return shown(await addSchedule(app, spec));
    },
    list: async () => Promise.all((await listSchedules(app)).map(shown)),
    remove: async (name) => shown(await removeSchedule(app, name)),
    pause: async (name, by = actorOf(process.env)) => shown(await pauseSchedule(app, name, by)),
    resume: async (name) => shown(await resumeSchedule(app, name)),
    run: async (name) => jobObject(app, await runSchedule(app, name)),
  };
}
