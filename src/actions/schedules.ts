import { invalidValue, QueueError } from '../core/errors.ts';
import { checkAtMostOnce } from '../core/jobs/enqueue-rules.ts';
import { checkName } from '../core/jobs/id.ts';
import type { Job } from '../core/jobs/job.ts';
import { type JobInput, withChanges } from '../core/jobs/job-input.ts';
import { timingText } from '../core/schedules/cron-text.ts';
import { fireTimes, nextTimes } from '../core/schedules/fire-times.ts';
import {
  CATCH_UPS,
  jobOfTick,
  OVERLAPS,
  queueOf,
  type Schedule,
  type ScheduleInput,
  type ScheduleSpec,
  SHORTEST_INTERVAL_MS,
  type Timing,
} from '../core/schedules/schedule.ts';
import { RANGES } from '../core/settings/settings.ts';
import { didYouMean } from '../core/text/nearest.ts';
import { checkDuration, parseDuration } from '../core/time/duration.ts';
import { toIso } from '../core/time/time.ts';
import { knownZone, localZone } from '../core/time/zone.ts';
import type { ScheduleObject, TimesObject } from '../core/wire/wire.ts';
import { checkDirectoryName } from '../exec/environment.ts';
import { type App, currentSettings } from './app.ts';
import { invalidJob, readableCommand } from './jobs/enqueue.ts';
import { scheduledJob } from './jobs/jobs.ts';

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
async function checkTiming(given: Timing, now: number): Promise<{ timing: Timing; nextAt: number }> {
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
  const timing: Timing =
    given.timing.kind === 'every' ? { ...given.timing, anchorAt: anchorOf(now) } : given.timing;
  const { spec, nextAt } = await checkSchedule({ ...given, timing }, now);
  const added = await app.store.addSchedule(spec, nextAt, now);
  app.wakeups.wake();
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
  app.wakeups.wake();
  return edited;
}

/** Removes a schedule. The jobs that it has enqueued stay. */
export async function removeSchedule(app: App, name: string): Promise<Schedule> {
  const schedule = await getSchedule(app, name);
  await app.store.removeSchedule(name);
  app.wakeups.tellChange();
  return schedule;
}

/** Pauses a schedule. Ticks that fall into the pause are skipped. */
export async function pauseSchedule(app: App, name: string, by: string): Promise<Schedule> {
  const schedule = await getSchedule(app, name);
  if (schedule.pausedAt !== null) return schedule;
  const paused = orNotFound(name, await app.store.pauseSchedule(name, { at: app.clock.now(), by }, null));
  app.wakeups.tellChange();
  return paused;
}

export async function resumeSchedule(app: App, name: string): Promise<Schedule> {
  const schedule = await getSchedule(app, name);
  if (schedule.pausedAt === null) return schedule;
  const nextAt = (await fireTimes(schedule.timing)).after(app.clock.now());
  const resumed = orNotFound(name, await app.store.pauseSchedule(name, null, nextAt));
  app.wakeups.wake();
  return resumed;
}

/** Enqueues the job of a schedule now, even if the schedule is paused. Its next tick stays the same. */
export async function runSchedule(app: App, name: string): Promise<Job> {
  const schedule = await getSchedule(app, name);
  const now = app.clock.now();
  const job = jobOfTick(scheduledJob(schedule, await currentSettings(app)), app.newId(now), now);
  const added = orNotFound(name, await app.store.fireNow(name, job, now));
  app.wakeups.wake();
  return added;
}

function orNotFound<T>(name: string, found: T | null): T {
  if (found === null) throw new QueueError('schedule-not-found', `schedule '${name}' no longer exists`);
  return found;
}

const EXAMPLE_HINT = "for example: queuectl schedule add nightly --cron '30 2 * * *' 'make backup'";

/** Reads the fields. `nameOf` returns the name of a field for error messages. */
export function readScheduleInput(
  given: ScheduleInput,
  now: number,
  nameOf = (field: string): string => field,
): Pick<ScheduleSpec, 'timing' | 'overlap' | 'catchUp'> {
  return {
    timing: readTiming(given, now, nameOf),
    ...readPolicies(given, { overlap: 'skip', catchUp: 'one' }, nameOf),
  };
}

type Policies = Pick<ScheduleSpec, 'overlap' | 'catchUp'>;

/** Reads the policies. Those that are not given are taken from `defaults`. */
function readPolicies(given: ScheduleInput, defaults: Policies, nameOf: (field: string) => string): Policies {
  return {
    overlap: readChoice(textOf(given.overlap), nameOf('overlap'), OVERLAPS, defaults.overlap),
    catchUp: readChoice(textOf(given.catch_up), nameOf('catch_up'), CATCH_UPS, defaults.catchUp),
  };
}

/** Returns a value as text, or undefined if the value is null or undefined. */
function textOf(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

export function readTiming(given: ScheduleInput, now: number, nameOf: (field: string) => string): Timing {
  const cron = textOf(given.cron);
  const timezone = textOf(given.timezone);
  const every = textOf(given.every);
  const either = `${nameOf('cron')} or ${nameOf('every')}`;
  if ((cron === undefined) === (every === undefined)) {
    const problem =
      cron === undefined ? `requires ${either}` : `cannot have both ${nameOf('cron')} and ${nameOf('every')}`;
    throw new QueueError('usage', `a schedule ${problem}`, EXAMPLE_HINT);
  }
  if (cron !== undefined) return { kind: 'cron', cron: cron.trim(), zone: timezone ?? localZone() };
  const what = nameOf('every');
  if (timezone !== undefined)
    throw new QueueError(
      'usage',
      `${nameOf('timezone')} only works with ${nameOf('cron')}, because ${what} has no time zone`,
    );
  const range = { ...RANGES.durationMs, min: SHORTEST_INTERVAL_MS };
  const everyMs = checkDuration(parseDuration(every!, what), what, range, every);
  return { kind: 'every', everyMs, anchorAt: anchorOf(now) };
}

/** Returns the anchor of a fixed interval that begins now. It is a whole second, so that the times are easy to read. */
const anchorOf = (now: number): number => Math.floor(now / 1000) * 1000;

function readChoice<T extends string>(
  text: string | undefined,
  what: string,
  known: readonly T[],
  defaultValue: T,
): T {
  if (text === undefined) return defaultValue;
  const found = known.find((one) => one === text.trim().toLowerCase());
  if (found !== undefined) return found;
  throw invalidValue(`${what} must be one of ${known.join(', ')}, not '${text}'${didYouMean(text, known)}`);
}

/** The changes to a schedule. `nameOf` returns the name of a field for error messages. */
export interface ScheduleChanges {
  schedule: ScheduleInput;
  job: JobInput;
  nameOf: (field: string) => string;
}

/** Returns the changed schedule. Its timing is the same object if it was not changed. */
function changedSchedule(current: Schedule, changes: ScheduleChanges, now: number): ScheduleSpec {
  const { schedule: given, job, nameOf } = changes;
  if (Object.keys(given).length + Object.keys(job).length === 0)
    throw new QueueError('usage', 'no changes given', 'for help: queuectl help schedule edit');
  return {
    name: current.name,
    timing: changedTiming(current.timing, changes, now),
    ...readPolicies(given, current, nameOf),
    job: changedJob(current.job, job),
  };
}

/** Returns the changed timing. A new cron expression keeps the time zone, and a new time zone keeps the expression. */
function changedTiming(current: Timing, { schedule: given, nameOf }: ScheduleChanges, now: number): Timing {
  const { cron, timezone, every } = given;
  if (cron === undefined && timezone === undefined && every === undefined) return current;
  if (current.kind === 'every' || every !== undefined) return readTiming(given, now, nameOf);
  return readTiming({ cron: cron ?? current.cron, timezone: timezone ?? current.zone }, now, nameOf);
}

/** Returns the changed job. A new `command` replaces the old `argv`, and a new `argv` replaces the old `command`. */
function changedJob(current: JobInput, given: JobInput): JobInput {
  const { command: _, argv: __, ...rest } = current;
  const keepsCommand = given.command === undefined && given.argv === undefined;
  return withChanges(keepsCommand ? current : rest, given);
}

/** A schedule lists this many of its next runs. */
const NEXT_RUNS = 5;

export async function toScheduleObject(schedule: Schedule, now: number): Promise<ScheduleObject> {
  const { timing, job, nextAt } = schedule;
  return {
    name: schedule.name,
    ...timingFields(timing),
    overlap: schedule.overlap,
    catch_up: schedule.catchUp,
    paused: schedule.pausedAt !== null,
    paused_at: toIso(schedule.pausedAt),
    paused_by: schedule.pausedBy,
    next_run_at: toIso(nextAt),
    // If no worker is running, the time of the next tick may have passed.
    next_runs: nextAt === null ? [] : await nextRuns(timing, Math.max(now, nextAt - 1)),
    last_run_at: toIso(schedule.lastAt),
    last_job_id: schedule.lastJob,
    waiting: schedule.waiting,
    created_at: toIso(schedule.createdAt),
    command: job.command ?? readableCommand(job.argv ?? []),
    argv: job.argv ?? null,
    queue: queueOf(schedule),
    job: {
      name: job.name ?? schedule.name,
      priority: job.priority ?? 0,
      max_retries: job.maxRetries ?? null,
      timeout_ms: job.timeoutMs ?? null,
      backoff_base: job.backoffBase ?? null,
      cwd: job.cwd ?? null,
      env: job.env ?? {},
      tags: job.tags ?? {},
    },
  };
}

/** Returns a description and the next runs of a schedule with this timing, without creating it. */
export async function previewSchedule(given: Timing, now: number): Promise<TimesObject> {
  const { timing } = await checkTiming(given, now);
  return { ...timingFields(timing), next_runs: await nextRuns(timing, now) };
}

function timingFields(timing: Timing): Pick<ScheduleObject, 'cron' | 'timezone' | 'every_ms' | 'text'> {
  const text = timingText(timing);
  return timing.kind === 'cron'
    ? { cron: timing.cron, timezone: timing.zone, every_ms: null, text }
    : { cron: null, timezone: null, every_ms: timing.everyMs, text };
}

async function nextRuns(timing: Timing, after: number): Promise<string[]> {
  try {
    return nextTimes(await fireTimes(timing), after, NEXT_RUNS).map((at) => toIso(at));
  } catch (error) {
    // A row that was changed by hand does not hide the other schedules.
    if (error instanceof QueueError && error.code === 'invalid-cron') return [];
    throw error;
  }
}
