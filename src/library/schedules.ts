import { jobObject } from '../actions/jobs.ts';
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
import type { Schedule } from '../core/schedule.ts';
import type { ScheduleObject } from '../core/wire.ts';
import type { OpenQueue } from './open-queue.ts';
import { checkOptionNames, nonBlankText } from './options.ts';
import type { EnqueueInput, NewSchedule, Schedules } from './types.ts';

const FIELDS = [
  ...['name', 'job', 'cron', 'timezone', 'every', 'overlap', 'catch_up'],
] as const satisfies (keyof NewSchedule)[];

/** Returns the methods of the library that manage schedules. `readJob` checks and converts the job of a new schedule. */
export function schedulesOf(queue: OpenQueue, readJob: (job: EnqueueInput | string) => JobInput): Schedules {
  const checkedName = (name: unknown): string => nonBlankText(name, 'the name of the schedule');
  const toObject = (schedule: Schedule): Promise<ScheduleObject> =>
    toScheduleObject(schedule, queue.app().clock.now());
  return {
    async add(schedule) {
      const app = queue.app();
      const options = checkOptionNames(schedule, 'schedules.add()', FIELDS) as NewSchedule;
      const { name, job: given, ...timing } = options;
      const scheduleName = checkedName(name);
      const job = readJob(given);
      const spec = {
        name: scheduleName,
        ...readScheduleInput(timing, app.clock.now()),
        job: { ...job, cwd: job.cwd ?? process.cwd() },
      };
      return toObject(await addSchedule(app, spec));
    },
    list: async () => Promise.all((await listSchedules(queue.app())).map(toObject)),
    remove: async (name) => toObject(await removeSchedule(queue.app(), checkedName(name))),
    pause: async (name, by = queue.actor) =>
      toObject(await pauseSchedule(queue.app(), checkedName(name), nonBlankText(by, 'by'))),
    resume: async (name) => toObject(await resumeSchedule(queue.app(), checkedName(name))),
    async run(name) {
      const app = queue.app();
      return jobObject(app, await runSchedule(app, checkedName(name)));
    },
  };
}
