import { checkAtMostOnce } from '../core/at-most-once.ts';
import { invalidValue, QueueError } from '../core/errors.ts';
import { fireTimes } from '../core/fire-times.ts';
import { checkName } from '../core/id.ts';
import type { Job, JobSpec } from '../core/job.ts';
import { didYouMean } from '../core/nearest.ts';
import { jobOfTick, type Schedule, type ScheduleSpec, type Timing } from '../core/schedule.ts';
import type { Settings } from '../core/settings.ts';
import { knownZone } from '../core/zone.ts';
import { checkDirectoryName } from '../exec/working-directory.ts';
import { type App, currentSettings } from './app.ts';
import { fillIn, invalidJob } from './enqueue.ts';
import { changedSchedule, type ScheduleChanges } from './schedule-input.ts';

/** Throws if a schedule is invalid. Returns it with the usual spelling of its time zone, and the time of its next tick. */
export async function checkSchedule(spec: ScheduleSpec, now: number) {
  checkName(spec.name, 'the schedule name');
  const { id, runAt, idempotencyKey } = spec.job;
  if (id !== undefined || runAt !== undefined || idempotencyKey !== undefined)
    throw invalidJob('the job of a schedule cannot have an id, a run time or a unique key');
  if (spec.job.command === undefined && spec.job.argv === undefined)
    throw invalidJob('the job of a schedule requires a command');
  if (spec.job.dependsOn?.length) throw invalidJob('the job of a schedule cannot depend on other jobs');
  checkAtMostOnce(spec.job);
  if (spec.job.cwd !== undefined) checkDirectoryName(spec.job.cwd);
  const { timing, nextAt } = await checkTiming(spec.timing, now);
  return { spec: { ...spec, timing }, nextAt };
}

const NO_DATE_HINT = 'use a day that exists in the month, such as 28 in February';

/** Throws if the time zone is unknown or no tick exists. Returns the timing with its zone spelled as usual, and its next tick. */
export async function checkTiming(given: Timing, now: number): Promise<{ timing: Timing; nextAt: number }> {
  const timing = checkZone(given);
  const nextAt = (await fireTimes(timing)).after(now);
  if (nextAt === null) {
    const text = timing.kind === 'cron' ? ` '${timing.cron}'` : '';
    throw new QueueError('invalid-cron', `the cron expression${text} never matches a date`, NO_DATE_HINT);
  }
  return { timing, nextAt };
}

function checkZone(timing: Timing): Timing {
  if (timing.kind === 'every') return timing;
  const zone = knownZone(timing.zone);
  if (zone === null) {
    throw invalidValue(`unknown time zone '${timing.zone}'`, 'use a time zone such as Europe/Berlin or UTC');
  }
  return { ...timing, zone };
}

/** Creates a schedule. Throws if its name is taken, or if it would never fire. */
export async function addSchedule(app: App, given: ScheduleSpec): Promise<Schedule> {
  const now = app.clock.now();
  const { spec, nextAt } = await checkSchedule(given, now);
  const added = await app.store.addSchedule(spec, nextAt, now);
  app.signals.wake();
  return added;
}

export function listSchedules(app: App): Promise<Schedule[]> {
  return app.store.schedules();
}

export async function getSchedule(app: App, name: string): Promise<Schedule> {
  const all = await app.store.schedules();
  const found = all.find((schedule) => schedule.name === name);
  if (found !== undefined) return found;
  const names = all.map((schedule) => schedule.name);
  throw new QueueError('schedule-not-found', `there is no schedule '${name}'${didYouMean(name, names)}`);
}

/** Changes the given fields of a schedule. A tick that is due still fires, unless the timing changes. */
export async function editSchedule(app: App, name: string, changes: ScheduleChanges): Promise<Schedule> {
  const now = app.clock.now();
  const current = await getSchedule(app, name);
  const changedSpec = changedSchedule(current, changes, now);
  const { spec, nextAt } = await checkSchedule(changedSpec, now);
  const newNextAt = changedSpec.timing === current.timing ? null : nextAt;
  const edited = orNotFound(name, await app.store.editSchedule(spec, newNextAt));
  app.signals.wake();
  return edited;
}

/** Removes a schedule. The jobs that it has enqueued stay. */
export async function removeSchedule(app: App, name: string): Promise<Schedule> {
  const schedule = await getSchedule(app, name);
  await app.store.removeSchedule(name);
  app.signals.tellChange();
  return schedule;
}

/** Pauses a schedule. Ticks that fall into the pause are skipped. */
export async function pauseSchedule(app: App, name: string, by: string): Promise<Schedule> {
  const schedule = await getSchedule(app, name);
  if (schedule.pausedAt !== null) return schedule;
  const paused = orNotFound(name, await app.store.pauseSchedule(name, { at: app.clock.now(), by }, null));
  app.signals.tellChange();
  return paused;
}

export async function resumeSchedule(app: App, name: string): Promise<Schedule> {
  const schedule = await getSchedule(app, name);
  if (schedule.pausedAt === null) return schedule;
  const nextAt = (await fireTimes(schedule.timing)).after(app.clock.now());
  const resumed = orNotFound(name, await app.store.pauseSchedule(name, null, nextAt));
  app.signals.wake();
  return resumed;
}

/** Enqueues the job of a schedule now, even if the schedule is paused. Its next tick stays the same. */
export async function runSchedule(app: App, name: string): Promise<Job> {
  const schedule = await getSchedule(app, name);
  const now = app.clock.now();
  const job = jobOfTick(scheduledJob(schedule, await currentSettings(app)), app.newId(now), now);
  const added = orNotFound(name, await app.store.fireNow(name, job, now));
  app.signals.wake();
  return added;
}

/** Returns the complete job of a schedule, still without the id and the time of a tick, which `jobOfTick` adds. */
export function scheduledJob(schedule: Schedule, settings: Settings): JobSpec {
  const env = { ...schedule.job.env, QUEUECTL_SCHEDULE: schedule.name };
  const name = schedule.job.name ?? schedule.name;
  const noId = (): string => '';
  return fillIn({ ...schedule.job, env, name }, () => '/', settings, noId);
}

function orNotFound<T>(name: string, found: T | null): T {
  if (found === null) throw new QueueError('schedule-not-found', `schedule '${name}' no longer exists`);
  return found;
}
