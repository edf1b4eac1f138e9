import { QueueError } from '../../core/errors.ts';
import type { Job, JobSpec } from '../../core/jobs/job.ts';
import { tickEvent } from '../../core/rules/events.ts';
import {
  jobOfTick,
  MAX_WAITING_TICKS,
  type Schedule,
  type ScheduleSpec,
  TICKS_KEPT_MS,
} from '../../core/schedules/schedule.ts';
import type { FiredTick, Firing, ScheduleStore } from '../contract/schedules.ts';
import { SCHEDULED_JOB } from '../json-shapes.ts';
import { newJob } from '../new-rows.ts';
import type { Row } from '../row.ts';
import { mapIfFound, parseJson } from '../rows.ts';
import {
  all,
  type Engine,
  get,
  nothing,
  recordEvent,
  recordJobEvent,
  run,
  type Steps,
  statementsOf,
  together,
} from '../steps.ts';
import { type Inserter, newInserter } from './insert.ts';

const SELECT_SCHEDULE = `SELECT number, name, cron, zone, every_ms AS "everyMs", anchor_at AS "anchorAt", overlap,
  catch_up AS "catchUp", job, created_at AS "createdAt", paused_at AS "pausedAt", paused_by AS "pausedBy",
  next_at AS "nextAt", last_at AS "lastAt", last_job AS "lastJob", waiting`;
/** Is true if every job of the schedule has ended or was removed. Then a waiting tick can be enqueued. */
const NONE_OPEN = `NOT EXISTS (SELECT 1 FROM tick JOIN job ON job.number = tick.job
  WHERE tick.phase = 'open' AND tick.schedule = schedule.number AND job.phase <> 'ended')`;
const IS_RELEASABLE = `waiting > 0 AND paused_at IS NULL AND ${NONE_OPEN}`;

export const scheduleStatements = statementsOf(({ isIn, valuesOf, byIndex }) => ({
  schedules: `${SELECT_SCHEDULE} FROM schedule ORDER BY name`,
  scheduleByName: `${SELECT_SCHEDULE} FROM schedule WHERE name = $1`,
  insertSchedule: `INSERT INTO schedule (name, cron, zone, every_ms, anchor_at, overlap, catch_up, job, next_at,
    created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
  updateSchedule: `UPDATE schedule SET cron = $1, zone = $2, every_ms = $3, anchor_at = $4, overlap = $5,
    catch_up = $6, job = $7, next_at = CASE WHEN paused_at IS NULL THEN coalesce($8, next_at) END WHERE name = $9`,
  deleteSchedule: 'DELETE FROM schedule WHERE name = $1',
  pauseSchedule: 'UPDATE schedule SET paused_at = $1, paused_by = $2, next_at = $3 WHERE name = $4',
  nextTick: `SELECT (SELECT min(next_at) FROM schedule WHERE next_at IS NOT NULL) AS next_at,
    EXISTS (SELECT 1 FROM schedule WHERE ${IS_RELEASABLE}) AS releasable`,
  /**
   * Sorts the numbers of all due schedules, which the index contains, and reads only the rows of the first ones. The sum keeps the
   * engine from reading all schedules in the order of their numbers.
   */
  dueSchedules: `${SELECT_SCHEDULE} FROM schedule WHERE ${isIn(
    'number',
    `SELECT number FROM schedule${byIndex('schedule_next')}
      WHERE next_at IS NOT NULL AND next_at <= $1 AND number + 0 > $2 ORDER BY number + 0 LIMIT $3`,
  )}`,
  releasableSchedules: `${SELECT_SCHEDULE} FROM schedule WHERE ${IS_RELEASABLE} AND number > $1 ORDER BY number LIMIT $2`,
  /**
   * Moves a schedule to its next tick, unless it was moved since it was read. Waits for another transaction that moves it, and
   * then finds that it was moved.
   */
  moveSchedule: `UPDATE schedule SET next_at = $1
    WHERE number = $2 AND next_at IS NOT DISTINCT FROM $3 AND waiting = $4 AND paused_at IS NULL`,
  closeTicks: `UPDATE tick${byIndex('tick_open')} SET phase = 'closed' WHERE phase = 'open' AND schedule = $1
    AND NOT EXISTS (SELECT 1 FROM job WHERE job.number = tick.job AND job.phase <> 'ended')`,
  anyOpenTick: "SELECT 1 FROM tick WHERE phase = 'open' AND schedule = $1 LIMIT 1",
  waitingTicks: "SELECT at FROM tick WHERE phase = 'waiting' AND schedule = $1 ORDER BY at",
  insertTick: 'INSERT INTO tick (schedule, at, manual, phase) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
  /** Adds ticks of a schedule. Returns those that were not handled before. */
  insertTicks: `INSERT INTO tick (schedule, at, manual, phase) SELECT $1, value, 0, 'closed'
    FROM ${valuesOf('$2', 'bigint')} WHERE true ON CONFLICT DO NOTHING RETURNING at`,
  /** Stores the phase and the job of a tick. The job is given by its id. */
  updateTick: `UPDATE tick SET phase = $1, job = (SELECT number FROM job WHERE id = $2)
    WHERE schedule = $3 AND at = $4 AND manual = $5`,
  /** Stores the number of waiting ticks, the last tick that became a job, and the id of that job. Null leaves a value as it is. */
  storeLastTick: `UPDATE schedule SET waiting = coalesce($1, waiting), last_at = coalesce($2, last_at),
    last_job = coalesce($3, last_job) WHERE number = $4`,
  deleteOldTicks: "DELETE FROM tick WHERE schedule = $1 AND at < $2 AND phase = 'closed'",
}));

export function schedulePart(db: Engine): ScheduleStore {
  const sql = scheduleStatements(db.dialect);
  return {
    addSchedule: (spec, nextAt, now) => db.write('addSchedule', () => addSchedule(db, spec, nextAt, now)),
    schedules: () => db.read(() => all(sql.schedules)).then((rows) => rows.map(toSchedule)),
    editSchedule: (spec, nextAt) =>
      db.write('editSchedule', function* (): Steps<Schedule | null> {
        if ((yield* run(sql.updateSchedule, ...valuesOf(spec), nextAt, spec.name)) === 0) return null;
        yield* recordEvent(db, { kind: 'schedule-edited', detail: { schedule: spec.name } });
        return yield* byName(db, spec.name);
      }),
    removeSchedule: (name) =>
      db.write('removeSchedule', function* (): Steps<boolean> {
        if ((yield* run(sql.deleteSchedule, name)) === 0) return false;
        yield* recordEvent(db, { kind: 'schedule-removed', detail: { schedule: name } });
        return true;
      }),
    pauseSchedule: (name, paused, nextAt) =>
      db.write('pauseSchedule', function* (): Steps<Schedule | null> {
        if ((yield* run(sql.pauseSchedule, paused?.at ?? null, paused?.by ?? null, nextAt, name)) === 0)
          return null;
        const kind = paused === null ? 'schedule-resumed' : 'schedule-paused';
        yield* recordEvent(db, { kind, detail: { schedule: name } });
        return yield* byName(db, name);
      }),
    dueSchedules: (now, after, limit) => db.read(() => dueSchedules(db, now, after, limit)),
    // A queue, or the schedule itself, may be removed after its number was read.
    fire: (firings, now) => db.write('fire', () => fire(db, firings, now), { repeatsAfter: 'foreign-key' }),
    fireNow: (name, job, now) =>
      db.write('fireNow', () => fireNow(db, name, job, now), { repeatsAfter: 'foreign-key' }),
  };
}

/** Returns the values of the columns that a user sets, except the name, in the order of the statements. */
function valuesOf({ timing, overlap, catchUp, job }: ScheduleSpec): (string | number | null)[] {
  const when =
    timing.kind === 'cron'
      ? [timing.cron, timing.zone, null, null]
      : [null, null, timing.everyMs, timing.anchorAt];
  return [...when, overlap, catchUp, JSON.stringify(job)];
}

function toSchedule({ cron, zone, everyMs, anchorAt, job, ...rest }: Row): Schedule {
  const timing = cron === null ? { kind: 'every', everyMs, anchorAt } : { kind: 'cron', cron, zone };
  // A job that cannot be read has no command. Such a schedule is listed and reported, and does not fire.
  return { ...rest, timing, job: parseJson(job, {}, SCHEDULED_JOB) } as unknown as Schedule;
}

function* addSchedule(db: Engine, spec: ScheduleSpec, nextAt: number, now: number): Steps<Schedule> {
  const { name } = spec;
  const { insertSchedule } = scheduleStatements(db.dialect);
  if ((yield* run(insertSchedule, name, ...valuesOf(spec), nextAt, now)) === 0)
    throw new QueueError('schedule-exists', `a schedule named '${name}' already exists`);
  yield* recordEvent(db, { kind: 'schedule-added', detail: { schedule: name } });
  return (yield* byName(db, name))!;
}

function* byName({ dialect }: Engine, name: string): Steps<Schedule | null> {
  return mapIfFound(yield* get(scheduleStatements(dialect).scheduleByName, name), toSchedule);
}

function* dueSchedules({ dialect }: Engine, now: number, after: number, limit: number): Steps<Schedule[]> {
  const sql = scheduleStatements(dialect);
  const [due, releasable] = yield* together(
    all(sql.dueSchedules, now, after, limit),
    all(sql.releasableSchedules, after, limit),
  );
  const rows = [...due, ...releasable];
  const schedules = [...new Map(rows.map((row) => [row.number, toSchedule(row)])).values()];
  return schedules.sort((a, b) => a.number - b.number).slice(0, limit);
}

/** A schedule that was moved to its next tick. Only one transaction moves it, so nobody else handles its ticks. */
interface MovedSchedule {
  firing: Firing;
  /** The due ticks that were not handled before. */
  ticks: Firing['ticks'];
  /** The times of the ticks that are waiting, oldest first. */
  waiting: number[];
  hasUnfinishedJob: boolean;
}

/** A tick of a firing, and its job. The job is null if the tick waits or is skipped because of the job of an earlier tick. */
interface HandledTick {
  at: number;
  spec: JobSpec | null;
  /** Whether the job was not added, because another job has its unique key. */
  keyTaken: boolean;
  waits: boolean;
}

/** Decides about all ticks first, so that their jobs can be inserted together. The number of round trips stays small. */
function* fire(db: Engine, firings: Firing[], now: number): Steps<(FiredTick[] | null)[]> {
  // All transactions lock schedules in the same order.
  const ordered = firings.toSorted((a, b) => a.schedule.number - b.schedule.number);
  const found = yield* together(...ordered.map((firing) => moveSchedule(db, firing)));
  const moved = found.filter((schedule) => schedule !== null);
  const inserter = newInserter(db, now);
  const jobs = newJobList(inserter);
  const handled = new Map<Firing, HandledTick[]>();
  for (const schedule of moved) handled.set(schedule.firing, yield* handleTicks(schedule, jobs));
  yield* jobs.end();
  yield* inserter.end();
  yield* together(...moved.map((one) => storeTicks(db, one, handled.get(one.firing)!, now)));
  return firings.map((firing) => {
    const ticks = handled.get(firing);
    if (ticks === undefined) return null;
    return ticks.map(({ at, spec, keyTaken, waits }) => {
      return { at, job: spec === null || keyTaken ? null : newJob(spec, now), waits };
    });
  });
}

/** Moves a schedule to its next tick. Returns null if it was changed since it was read. */
function* moveSchedule({ dialect }: Engine, firing: Firing): Steps<MovedSchedule | null> {
  const sql = scheduleStatements(dialect);
  const { schedule, nextAt, ticks } = firing;
  const { number } = schedule;
  if ((yield* run(sql.moveSchedule, nextAt, number, schedule.nextAt, schedule.waiting)) === 0) return null;
  const times = ticks.map((tick) => tick.at);
  const none: { at: number }[] = [];
  const [, openTick, waiting, added] = yield* together(
    run(sql.closeTicks, number),
    get(sql.anyOpenTick, number),
    schedule.waiting === 0 ? nothing(none) : all<{ at: number }>(sql.waitingTicks, number),
    times.length === 0 ? nothing(none) : all<{ at: number }>(sql.insertTicks, number, times),
  );
  const newTimes = new Set(added.map((tick) => tick.at));
  return {
    firing,
    ticks: ticks.filter((tick) => newTimes.has(tick.at)),
    waiting: waiting.map((tick) => tick.at),
    hasUnfinishedJob: openTick !== undefined,
  };
}

/** Collects the jobs of ticks. A job with a unique key is inserted at once, because the next tick may depend on its success. */
function newJobList(inserter: Inserter) {
  const later: JobSpec[] = [];
  return {
    /** Returns whether the job is added. It is not if its unique key is taken. */
    *add(spec: JobSpec): Steps<boolean> {
      later.push(spec);
      return spec.unique === null || !(yield* inserter.add(later.splice(0))).has(spec);
    },
    end: () => inserter.add(later),
  };
}

/** Decides about the due and the waiting ticks of a schedule. */
function* handleTicks(
  { firing, ticks, waiting, hasUnfinishedJob }: MovedSchedule,
  jobs: ReturnType<typeof newJobList>,
): Steps<HandledTick[]> {
  const { schedule, waitingJobIds } = firing;
  const handled: HandledTick[] = [];
  let isBlocked = hasUnfinishedJob;
  function* enqueue(at: number, id: string): Steps<void> {
    const spec = jobOfTick(firing.job, id, at);
    const keyTaken = !(yield* jobs.add(spec));
    handled.push({ at, spec, keyTaken, waits: false });
    isBlocked = schedule.overlap !== 'allow' && !keyTaken;
  }

  // Waiting ticks come first. A tick is enqueued only while no job of the schedule is unfinished.
  for (const id of waitingJobIds) if (!isBlocked && waiting.length > 0) yield* enqueue(waiting.shift()!, id);
  for (const { at, mayWait, jobId } of ticks) {
    const waits = isBlocked && mayWait && waiting.length < MAX_WAITING_TICKS;
    if (!isBlocked) yield* enqueue(at, jobId);
    else handled.push({ at, spec: null, keyTaken: false, waits });
    if (waits) waiting.push(at);
  }
  return handled;
}

/** Stores what became of ticks, after their jobs were inserted, and events. Deletes old ticks of the schedule. */
function* storeTicks(
  db: Engine,
  { firing: { schedule }, waiting }: MovedSchedule,
  ticks: HandledTick[],
  now: number,
): Steps<void> {
  const sql = scheduleStatements(db.dialect);
  const { number } = schedule;
  const last = ticks.findLast((tick) => tick.spec !== null && !tick.keyTaken);
  yield* together(
    ...ticks.map(({ at, spec, keyTaken, waits }) =>
      spec === null
        ? storeUnenqueuedTick(db, schedule, at, waits)
        : storeTick(db, schedule, at, 0, keyTaken ? null : spec.id),
    ),
    run(sql.storeLastTick, waiting.length, last?.at ?? null, last?.spec?.id ?? null, number),
    run(sql.deleteOldTicks, number, now - TICKS_KEPT_MS),
  );
}

/** Stores a tick that waits or was skipped. */
function* storeUnenqueuedTick(db: Engine, schedule: Schedule, at: number, waits: boolean): Steps<void> {
  const { updateTick } = scheduleStatements(db.dialect);
  yield* together(
    waits ? run(updateTick, 'waiting', null, schedule.number, at, 0) : nothing(0),
    recordEvent(db, tickEvent(schedule.name, at, false, waits)),
  );
}

/**
 * Stores the job of a tick, given by its id, and an event. The tick stays open until its job has ended, unless jobs of the
 * schedule may overlap or no job was added (null).
 */
function* storeTick(
  db: Engine,
  schedule: Schedule,
  at: number,
  manual: 0 | 1,
  job: string | null,
): Steps<void> {
  const phase = schedule.overlap === 'allow' || job === null ? 'closed' : 'open';
  const event = tickEvent(schedule.name, at, manual === 1, false);
  yield* together(
    run(scheduleStatements(db.dialect).updateTick, phase, job, schedule.number, at, manual),
    job === null ? recordEvent(db, event) : recordJobEvent(db, event, job),
  );
}

function* fireNow(db: Engine, name: string, spec: JobSpec, now: number): Steps<Job | null> {
  const sql = scheduleStatements(db.dialect);
  const schedule = yield* byName(db, name);
  if (schedule === null) return null;
  let at = now;
  while ((yield* run(sql.insertTick, schedule.number, at, 1, 'closed')) === 0) at++;
  const inserter = newInserter(db, now);
  const holder = (yield* inserter.add([spec])).get(spec);
  yield* inserter.end();
  if (holder === undefined) yield* run(sql.storeLastTick, null, at, spec.id, schedule.number);
  yield* storeTick(db, schedule, at, 1, holder === undefined ? spec.id : null);
  return holder ?? newJob(spec, now);
}
