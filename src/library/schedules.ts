import { readScheduleInput } from '../actions/schedule-input.ts';
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
import { toJobObject } from '../core/job-object.ts';
import type { Schedule } from '../core/schedule.ts';
import type { ScheduleObject } from '../core/wire.ts';
import type { OpenQueue } from './open-queue.ts';
import { checkNames, filledText } from './options.ts';
import type { EnqueueInput, NewSchedule, Schedules } from './types.ts';

const FIELDS = [
  ...['name', 'job', 'cron', 'timezone', 'every', 'overlap', 'catch_up'],
] as const satisfies (keyof NewSchedule)[];

export function schedules(queue: OpenQueue, read: (job: EnqueueInput | string) => JobInput): Schedules {
  const named = (name: unknown): string => filledText(name, 'the name of the schedule');
  const shown = (schedule: Schedule): Promise<ScheduleObject> =>
    toScheduleObject(schedule, queue.app().clock.now());
  return {
    async add(schedule) {
      const app = queue.app();
      const { name, job: given, ...when } = checkNames(schedule, 'schedules.add()', FIELDS) as NewSchedule;
      const title = named(name);
      const job = read(given);
      const spec = {
        name: title,
        ...readScheduleInput(when, app.clock.now()),
        job: { ...job, cwd: job.cwd ?? process.cwd() },
      };
      return shown(await addSchedule(app, spec));
    },
    list: async () => Promise.all((await listSchedules(queue.app())).map(shown)),
    remove: async (name) => shown(await removeSchedule(queue.app(), named(name))),
    pause: async (name, by = queue.actor) =>
      shown(await pauseSchedule(queue.app(), named(name), filledText(by, 'by'))),
    resume: async (name) => shown(await resumeSchedule(queue.app(), named(name))),
    run: async (name) => toJobObject(await runSchedule(queue.app(), named(name))),
  };
}
