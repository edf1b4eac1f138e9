import {
  addSchedule,
  editSchedule,
  getSchedule,
  listSchedules,
  pauseSchedule,
  previewSchedule,
  readScheduleInput,
  readTiming,
  removeSchedule,
  resumeSchedule,
  runSchedule,
  toScheduleObject,
} from '../../actions/schedules.ts';
import type { Schedule, ScheduleInput } from '../../core/schedules/schedule.ts';
import { masked } from '../../core/text/mask.ts';
import { listOf, ref } from '../../core/wire/schema.ts';
import type { ScheduleObject } from '../../core/wire/wire.ts';
import { homeOfOwner } from '../../files/home.ts';
import { refuse } from '../problem.ts';
import { readFields, readFlag, readJobBody, readText } from '../read-input.ts';
import { del, get, json, patch, post, type Route } from '../route.ts';
import { INPUTS } from '../schemas.ts';
import { maskedJob } from './jobs.ts';

const scheduleAnswer = { description: 'the schedule', schema: ref('Schedule') };

export const SCHEDULE_ROUTES: Route[] = [
  get('/api/v1/schedules', {
    summary: 'List the schedules with their next five runs',
    answers: { 200: { description: 'the schedules', schema: listOf(ref('Schedule')) } },
    async handle({ app }) {
      const now = app.clock.now();
      return json(await Promise.all((await listSchedules(app)).map((one) => maskedSchedule(one, now))));
    },
  }),
  post('/api/v1/schedules', {
    summary: 'Create a schedule with name, cron and timezone (or every), overlap, catch_up and job',
    body: ref('NewSchedule'),
    answers: { 201: scheduleAnswer },
    async handle({ app, body }) {
      const now = app.clock.now();
      const { name, job, ...timing } = readFields(body, INPUTS.NewSchedule);
      const spec = {
        name: readText(name, 'name'),
        ...readScheduleInput(timing, now),
        job: readJobBody(job, now),
      };
      const cwd = spec.job.cwd ?? homeOfOwner(app.stateDirectory.path);
      const added = await addSchedule(app, { ...spec, job: { ...spec.job, cwd } });
      return json(await maskedSchedule(added, now), 201);
    },
  }),
  get('/api/v1/schedules/{name}', {
    summary: 'Show a schedule',
    answers: { 200: scheduleAnswer },
    handle: async ({ app, params }) =>
      json(await maskedSchedule(await getSchedule(app, params.name!), app.clock.now())),
  }),
  patch('/api/v1/schedules/{name}', {
    summary: 'Change the times, policies or job of a schedule, or pause or resume it (without other changes)',
    body: ref('ScheduleChanges'),
    answers: { 200: scheduleAnswer },
    async handle({ app, params, body, actor }) {
      const now = app.clock.now();
      const { paused, job, ...timing } = readFields(body, INPUTS.ScheduleChanges);
      if (paused !== undefined && Object.keys(body as object).length > 1)
        refuse('invalid-request', 'paused cannot be combined with other changes');
      const changed =
        paused === undefined
          ? await editSchedule(app, params.name!, {
              schedule: withoutMissing(timing),
              job: job === undefined ? {} : readJobBody(job, now),
              nameOf: (field) => field,
            })
          : readFlag(paused, 'paused')
            ? await pauseSchedule(app, params.name!, actor)
            : await resumeSchedule(app, params.name!);
      return json(await maskedSchedule(changed, now));
    },
  }),
  del('/api/v1/schedules/{name}', {
    summary: 'Remove a schedule and keep its jobs',
    answers: { 204: { description: 'the schedule was removed', schema: null } },
    async handle({ app, params }) {
      await removeSchedule(app, params.name!);
      return new Response(null, { status: 204 });
    },
  }),
  post('/api/v1/schedules/{name}/run', {
    summary: "Enqueue a schedule's job now",
    answers: { 201: { description: 'the job', schema: ref('Job') } },
    handle: async ({ app, params }) => json(await maskedJob(app, await runSchedule(app, params.name!)), 201),
  }),
  get('/api/v1/times', {
    summary: 'Preview a schedule: get a description and its next five runs without creating it',
    query: {
      cron: 'a cron expression, such as 30 2 * * *, or @daily',
      timezone: "time zone of the cron expression, such as Europe/Berlin (default: the server's)",
      every: 'a fixed interval instead of cron, such as 90s or 5m',
    },
    answers: { 200: { description: 'the times', schema: ref('Times') } },
    async handle({ app, one }) {
      const input = withoutMissing({ cron: one('cron'), timezone: one('timezone'), every: one('every') });
      const now = app.clock.now();
      const timing = readTiming(input, now, (field) => field);
      return json(await previewSchedule(timing, now));
    },
  }),
];

async function maskedSchedule(schedule: Schedule, now: number): Promise<ScheduleObject> {
  return masked(await toScheduleObject(schedule, now));
}

/** Returns the fields that are neither null nor undefined. */
function withoutMissing(fields: Record<string, unknown>): ScheduleInput {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}
