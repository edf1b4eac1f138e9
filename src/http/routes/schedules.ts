import { readScheduleInput } from '../../actions/schedule-input.ts';
import {
  addSchedule,
  getSchedule,
  listSchedules,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  runSchedule,
} from '../../actions/schedules.ts';
import { homeOf } from '../../exec/home.ts';
import { fields, flag, text } from '../body.ts';
import { readJob } from '../read-job.ts';
import { json, type Route } from '../route.ts';
import { listOf, ref } from '../schema.ts';
import { shownJob, shownSchedule } from '../shown.ts';

const SCHEDULE_FIELDS = ['name', 'cron', 'timezone', 'every', 'overlap', 'catch_up', 'job'];
const schedule = { description: 'the schedule', schema: ref('Schedule') };

export const SCHEDULE_ROUTES: Route[] = [
  {
    method: 'GET',
    path: '/api/v1/schedules',
    summary: 'Every schedule, with its next five times',
    access: 'look',
    answers: { 200: { description: 'the schedules', schema: listOf(ref('Schedule')) } },
    async handle({ app }) {
      const now = app.clock.now();
      return json(await Promise.all((await listSchedules(app)).map((one) => shownSchedule(one, now))));
    },
  },
  {
    method: 'POST',
    path: '/api/v1/schedules',
    summary: 'Add a schedule: name, cron and timezone or every, overlap, catch_up, job',
    access: 'change',
    body: ref('NewSchedule'),
    answers: { 201: schedule },
    async handle({ app, body }) {
      const now = app.clock.now();
      const { name, job, ...timing } = fields(body, SCHEDULE_FIELDS);
      const spec = { name: text(name, 'name'), ...readScheduleInput(timing, now), job: readJob(job, now) };
      const cwd = spec.job.cwd ?? homeOf(app.stateDirectory);
      return json(
        await shownSchedule(await addSchedule(app, { ...spec, job: { ...spec.job, cwd } }), now),
        201,
      );
    },
  },
  {
    method: 'GET',
    path: '/api/v1/schedules/{name}',
    summary: 'One schedule',
    access: 'look',
    answers: { 200: schedule },
    handle: async ({ app, params }) =>
      json(await shownSchedule(await getSchedule(app, params.name!), app.clock.now())),
  },
  {
    method: 'PATCH',
    path: '/api/v1/schedules/{name}',
    summary: 'Pause or resume a schedule',
    access: 'change',
    body: ref('ScheduleChanges'),
    answers: { 200: schedule },
    async handle({ app, params, body, actor }) {
      const paused = flag(fields(body, ['paused']).paused, 'paused');
      const changed = paused
        ? await pauseSchedule(app, params.name!, actor)
        : await resumeSchedule(app, params.name!);
      return json(await shownSchedule(changed, app.clock.now()));
    },
  },
  {
    method: 'DELETE',
    path: '/api/v1/schedules/{name}',
    summary: 'Remove a schedule; its jobs stay',
    access: 'change',
    answers: { 204: { description: 'it is gone', schema: null } },
    async handle({ app, params }) {
      await removeSchedule(app, params.name!);
      return new Response(null, { status: 204 });
    },
  },
  {
    method: 'POST',
    path: '/api/v1/schedules/{name}/run',
    summary: 'Enqueue a job of it at once',
    access: 'change',
    answers: { 201: { description: 'the job', schema: ref('Job') } },
    handle: async ({ app, params }) => json(await shownJob(app, await runSchedule(app, params.name!)), 201),
  },
];
