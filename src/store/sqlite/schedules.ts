import { QueueError } from '../../core/errors.ts';
import { tickEvent } from '../../core/events.ts';
import type { Job, JobSpec } from '../../core/job.ts';
import {
  jobOfTick,
  MAX_WAITING_TICKS,
  type Schedule,
  type ScheduleSpec,
  TICKS_KEPT_MS,
} from '../../core/schedule.ts';
import type { FiredTick, Firing, ScheduleStore } from '../contract/schedules.ts';
import { newJob } from '../new-rows.ts';
import { mapIfFound } from '../rows.ts';
import { scheduleValues, toSchedule } from '../schedule-rows.ts';
import type { Connection } from './connection.ts';
import { isUniqueViolation } from './failures.ts';
import { type Insertion, insert, newInsertion } from './insert.ts';
import { recordEvent, recordJobEvent } from './record-events.ts';
import * as sql from './sql/schedules.ts';

export function scheduleStore(db: Connection): ScheduleStore {
  return {
    addSchedule: (spec, nextAt, now) => db.write('addSchedule', () => addSchedule(db, spec, nextAt, now)),
    schedules: () => db.read(() => db.all(sql.schedules).map(toSchedule)),
    editSchedule: (spec, nextAt) =>
      db.write('editSchedule', () => {
        if (db.run(sql.updateSchedule, ...scheduleValues(spec), nextAt, spec.name) === 0) return null;
        recordEvent(db, { kind: 'schedule-edited', detail: { schedule: spec.name } });
        return byName(db, spec.name);
      }),
    removeSchedule: (name) =>
      db.write('removeSchedule', () => {
        if (db.run(sql.deleteSchedule, name) === 0) return false;
        recordEvent(db, { kind: 'schedule-removed', detail: { schedule: name } });
        return true;
      }),
    pauseSchedule: (name, paused, nextAt) =>
      db.write('pauseSchedule', () => {
        if (db.run(sql.pauseSchedule, paused?.at ?? null, paused?.by ?? null, nextAt, name) === 0)
          return null;
        const kind = paused === null ? 'schedule-resumed' : 'schedule-paused';
        recordEvent(db, { kind, detail: { schedule: name } });
        return byName(db, name);
      }),
    dueSchedules: (now, after, limit) => db.read(() => dueSchedules(db, now, after, limit)),
    fire: (firings, now) => db.write('fire', () => fire(db, firings, now)),
    fireNow: (name, job, now) => db.write('fireNow', () => fireNow(db, name, job, now)),
  };
}

function addSchedule(db: Connection, spec: ScheduleSpec, nextAt: number, now: number): Schedule {
  const { name } = spec;
  try {
    db.run(sql.insertSchedule, name, ...scheduleValues(spec), nextAt, now);
  } catch (error) {
    if (isUniqueViolation(error))
      throw new QueueError('schedule-exists', `a schedule named '${name}' already exists`);
    throw error;
  }
  recordEvent(db, { kind: 'schedule-added', detail: { schedule: name } });
  return byName(db, name)!;
}

function byName(db: Connection, name: string): Schedule | null {
  return mapIfFound(db.get(sql.scheduleByName, name), toSchedule);
}

function dueSchedules(db: Connection, now: number, after: number, limit: number): Schedule[] {
  const rows = [
    ...db.all(sql.dueSchedules, now, after, limit),
    ...db.all(sql.releasableSchedules, after, limit),
  ];
  const schedules = [...new Map(rows.map((row) => [row.number, toSchedule(row)])).values()];
  return schedules.sort((a, b) => a.number - b.number).slice(0, limit);
}

/** A tick of a firing, and its job. The job is null if the tick waits or is skipped because of the job of an earlier tick. */
interface HandledTick {
  at: number;
  spec: JobSpec | null;
  /** Whether the job was not added, because another job has its unique key. */
  keyTaken: boolean;
  waits: boolean;
}

/** Decides about all ticks first, so that their jobs can be inserted together. */
function fire(db: Connection, firings: Firing[], now: number): (FiredTick[] | null)[] {
  const insertion = newInsertion(db, now);
  const handled = firings.map((firing) => handleTicks(db, firing, insertion));
  insertion.end();
  return firings.map((firing, i) => {
    const ticks = handled[i]!;
    if (ticks === null) return null;
    storeTicks(db, firing, ticks, now);
    return ticks.map(({ at, spec, keyTaken, waits }) => {
      return { at, job: spec === null || keyTaken ? null : newJob(spec, now), waits };
    });
  });
}

/** Moves a schedule to its next tick, and decides about its due and waiting ticks. Returns null if the schedule has changed. */
function handleTicks(db: Connection, firing: Firing, insertion: Insertion): HandledTick[] | null {
  const { schedule, ticks, nextAt, waitingJobIds } = firing;
  const { number, overlap } = schedule;
  if (db.run(sql.moveSchedule, nextAt, number, schedule.nextAt, schedule.waiting) === 0) return null;
  db.run(sql.closeTicks, number);
  const waiting =
    schedule.waiting === 0 ? [] : db.all(sql.waitingTicks, number).map((tick) => tick.at as number);
  let hasUnfinishedJob = db.get(sql.anyOpenTick, number) !== undefined;
  const handled: HandledTick[] = [];
  const enqueue = (at: number, id: string): void => {
    const spec = jobOfTick(firing.job, id, at);
    const keyTaken = insertion.add(spec) !== null;
    handled.push({ at, spec, keyTaken, waits: false });
    hasUnfinishedJob = overlap !== 'allow' && !keyTaken;
  };

  // Waiting ticks come first. A tick is enqueued only while no job of the schedule is unfinished.
  for (const id of waitingJobIds) if (!hasUnfinishedJob && waiting.length > 0) enqueue(waiting.shift()!, id);
  let waitingCount = waiting.length;
  for (const { at, mayWait, jobId } of ticks) {
    const waits = hasUnfinishedJob && mayWait && waitingCount < MAX_WAITING_TICKS;
    if (db.run(sql.insertTick, number, at, 0, waits ? 'waiting' : 'closed') === 0) continue;
    if (!hasUnfinishedJob) enqueue(at, jobId);
    else handled.push({ at, spec: null, keyTaken: false, waits });
    if (waits) waitingCount++;
  }
  const last = handled.findLast((tick) => tick.spec !== null && !tick.keyTaken);
  db.run(sql.storeLastTick, waitingCount, last?.at ?? null, last?.spec?.id ?? null, number);
  return handled;
}

/** Stores the jobs of ticks, after these were inserted, and events. Deletes old ticks of the schedule. */
function storeTicks(db: Connection, { schedule }: Firing, ticks: HandledTick[], now: number): void {
  for (const { at, spec, keyTaken, waits } of ticks) {
    if (spec === null) recordEvent(db, tickEvent(schedule.name, at, false, waits));
    else storeTick(db, schedule, at, 0, keyTaken ? null : spec.id);
  }
  db.run(sql.deleteOldTicks, schedule.number, now - TICKS_KEPT_MS);
}

function fireNow(db: Connection, name: string, spec: JobSpec, now: number): Job | null {
  const schedule = byName(db, name);
  if (schedule === null) return null;
  let at = now;
  while (db.run(sql.insertTick, schedule.number, at, 1, 'closed') === 0) at++;
  const job = insert(db, [spec], now)[0]!;
  if (!job.existing) db.run(sql.storeLastTick, null, at, spec.id, schedule.number);
  storeTick(db, schedule, at, 1, job.existing ? null : spec.id);
  return job;
}

/**
 * Stores the job of a tick, given by its id, and an event. The tick stays open until its job has ended, unless jobs of the
 * schedule may overlap or no job was added (null).
 */
function storeTick(db: Connection, schedule: Schedule, at: number, manual: 0 | 1, job: string | null): void {
  const phase = schedule.overlap === 'allow' || job === null ? 'closed' : 'open';
  db.run(sql.updateTick, phase, job, schedule.number, at, manual);
  const event = tickEvent(schedule.name, at, manual === 1, false);
  if (job === null) recordEvent(db, event);
  else recordJobEvent(db, event, job);
}
