import { previewSchedule } from '../../actions/preview-schedule.ts';
import { readScheduleInput, readTiming, type ScheduleInput } from '../../actions/schedule-input.ts';
import {
  addSchedule,
  editSchedule,
  getSchedule,
  listSchedules,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  runSchedule,
} from '../../actions/schedules.ts';
import { listOf, ref } from '../../core/schema.ts';
import { homeOf } from '../../files/home.ts';
import { fields, flag, text } from '../body.ts';
import { maskedJob, maskedSchedule } from '../masked-objects.ts';
import { refuse } from '../problem.ts';
import { readJob } from '../read-job.ts';
import { json, type Route } from '../route.ts';

const TIMING_FIELDS = ['cron', 'timezone', 'every', 'overlap', 'catch_up'];
const SCHEDULE_FIELDS = ['name', ...TIMING_FIELDS, 'job'];
const CHANGE_FIELDS = ['paused', ...TIMING_FIELDS, 'job'];
const schedule = { description: 'the schedule', schema: ref('Schedule') };

export const SCHEDULE_ROUTES: Route[] = [
  {
    method: 'GET',
    path: '/api/v1/schedules',
    summary: 'List the schedules with their next five runs',
    access: 'look',
    answers: { 200: { description: 'the schedules', schema: listOf(ref('Schedule')) } },
    async handle({ app }) {
      const now = app.clock.now();
      return json(await Promise.all((await listSchedules(app)).map((one) => maskedSchedule(one, now))));
    },
  },
  {
    method: 'POST',
    path: '/api/v1/schedules',
    summary: 'Create a schedule with name, cron and timezone (or every), overlap, catch_up and job',
    access: 'change',
    body: ref('NewSchedule'),
    answers: { 201: schedule },
    async handle({ app, body }) {
      const now = app.clock.now();
      const { name, job, ...timing } = fields(body, SCHEDULE_FIELDS);
      const spec = { name: text(name, 'name'), ...readScheduleInput(timing, now), job: readJob(job, now) };
      const cwd = spec.job.cwd ?? homeOf(app.stateDirectory.path);
      return json(
        await maskedSchedule(await addSchedule(app, { ...spec, job: { ...spec.job, cwd } }), now),
        201,
      );
    },
  },
  {
    method: 'GET',
    path: '/api/v1/schedules/{name}',
    summary: 'Show a schedule',
    access: 'look',
    answers: { 200: schedule },
    handle: async ({ app, params }) =>
      json(await maskedSchedule(await getSchedule(app, params.name!), app.clock.now())),
  },
  {
    method: 'PATCH',
    path: '/api/v1/schedules/{name}',
    summary: 'Change the times, policies or job of a schedule, or pause or resume it (without other changes)',
    access: 'change',
    body: ref('ScheduleChanges'),
    answers: { 200: schedule },
    async handle({ app, params, body, actor }) {
      const now = app.clock.now();
      const { paused, job, ...when } = fields(body, CHANGE_FIELDS);
      if (paused !== undefined && Object.keys(body as object).length > 1)
        refuse('invalid-request', 'paused cannot be combined with other changes');
      const changed =
        paused === undefined
          ? await editSchedule(app, params.name!, {
              when: given(when),
              job: job === undefined ? {} : readJob(job, now),
              called: (field) => field,
            })
          : flag(paused, 'paused')
            ? await pauseSchedule(app, params.name!, actor)
            : await resumeSchedule(app, params.name!);
      return json(await maskedSchedule(changed, now));
    },
  },
  {
    method: 'DELETE',
    path: '/api/v1/schedules/{name}',
    summary: 'Remove a schedule and keep its jobs',
    access: 'change',
    answers: { 204: { description: 'the schedule was removed', schema: null } },
    async handle({ app, params }) {
      await removeSchedule(app, params.name!);
      return new Response(null, { status: 204 });
    },
  },
  {
    method: 'POST',
    path: '/api/v1/schedules/{name}/run',
    summary: "Enqueue a schedule's job now",
    access: 'change',
    answers: { 201: { description: 'the job', schema: ref('Job') } },
    handle: async ({ app, params }) => json(await maskedJob(app, await runSchedule(app, params.name!)), 201),
  },
  {
    method: 'GET',
    path: '/api/v1/times',
    summary: 'Preview a schedule: get a description and its next five runs without creating it',
    access: 'look',
    query: {
      cron: 'a cron expression, such as 30 2 * * *, or @daily',
      timezone: "time zone of the cron expression, such as Europe/Berlin (default: the server's)",
      every: 'a fixed interval instead of cron, such as 90s or 5m',
    },
    answers: { 200: { description: 'the times', schema: ref('Times') } },
    async handle({ app, one }) {
      const when = given({ cron: one('cron'), timezone: one('timezone'), every: one('every') });
      const now = app.clock.now();
      return json(
        await previewSchedule(
          readTiming(when, now, (field) => field),
          now,
        ),
      );
    },
  },
];

/** Leaves out the fields that are null or absent. */
function given(fields: Record<string, unknown>): ScheduleInput {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}
