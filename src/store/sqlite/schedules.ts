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
import { mapIfFound } from '../rows.ts';
import { scheduleValues, toSchedule } from '../schedule-rows.ts';
import type { Connection } from './connection.ts';
import { isUniqueViolation } from './failures.ts';
import { insert } from './insert.ts';
import { recordEvent, recordJobEvent } from './record-events.ts';
import { jobSummary } from './sql/job-actions.ts';
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
    nextTick: () =>
      db.read(() => {
        const row = db.get(sql.nextTick)!;
        return row.releasable === 1 ? 0 : (row.next_at as number | null);
      }),
    dueSchedules: (now) => db.read(() => dueSchedules(db, now)),
    fire: (firing, now) => db.write('fire', () => fire(db, firing, now)),
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

function dueSchedules(db: Connection, now: number): Schedule[] {
  const rows = [...db.all(sql.dueSchedules, now), ...db.all(sql.releasableSchedules)];
  return [...new Map(rows.map((row) => [row.number, toSchedule(row)])).values()];
}

function fire(db: Connection, firing: Firing, now: number): FiredTick[] | null {
  const { schedule, ticks, nextAt, waitingJobIds } = firing;
  const { number, overlap } = schedule;
  if (db.run(sql.moveSchedule, nextAt, number, schedule.nextAt, schedule.waiting) === 0) return null;
  db.run(sql.closeTicks, number);
  const waiting = db.all(sql.waitingTicks, number).map((tick) => tick.at as number);
  let hasUnfinishedJob = db.get(sql.anyOpenTick, number) !== undefined;
  const fired: FiredTick[] = [];
  const enqueue = (at: number, id: string): void => {
    const job = enqueueTick(db, schedule, at, 0, jobOfTick(firing.job, id, at), now);
    fired.push({ at, job: job.existing ? null : job, waits: false });
    hasUnfinishedJob = overlap !== 'allow' && !job.existing;
  };

  // Waiting ticks come first. A tick is enqueued only while no job of the schedule is unfinished.
  for (const id of waitingJobIds) if (!hasUnfinishedJob && waiting.length > 0) enqueue(waiting.shift()!, id);
  for (const { at, mayWait, jobId } of ticks) {
    const waits = hasUnfinishedJob && mayWait && waiting.length < MAX_WAITING_TICKS;
    if (db.run(sql.insertTick, number, at, 0, waits ? 'waiting' : 'closed') === 0) continue;
    if (!hasUnfinishedJob) enqueue(at, jobId);
    else {
      fired.push({ at, job: null, waits });
      recordEvent(db, tickEvent(schedule.name, at, false, waits));
    }
    if (waits) waiting.push(at);
  }
  db.run(sql.setWaiting, waiting.length, number);
  db.run(sql.deleteOldTicks, number, now - TICKS_KEPT_MS);
  return fired;
}

function fireNow(db: Connection, name: string, job: JobSpec, now: number): Job | null {
  const schedule = byName(db, name);
  if (schedule === null) return null;
  let at = now;
  while (db.run(sql.insertTick, schedule.number, at, 1, 'closed') === 0) at++;
  return enqueueTick(db, schedule, at, 1, job, now);
}

/**
 * Adds the job of a tick, or returns the job that has its unique key. The tick stays open until its job has ended, unless
 * jobs of the schedule may overlap or no job was added.
 */
function enqueueTick(
  db: Connection,
  schedule: Schedule,
  at: number,
  manual: 0 | 1,
  spec: JobSpec,
  now: number,
): Job {
  const job = insert(db, [spec], now)[0]!;
  const tick = tickEvent(schedule.name, at, manual === 1, false);
  if (job.existing) {
    db.run(sql.updateTick, 'closed', null, schedule.number, at, manual);
    recordEvent(db, tick);
    return job;
  }
  const number = db.get(jobSummary, spec.id)!.number as number;
  const phase = schedule.overlap === 'allow' ? 'closed' : 'open';
  db.run(sql.updateTick, phase, number, schedule.number, at, manual);
  db.run(sql.storeLastTick, at, spec.id, schedule.number);
  recordJobEvent(db, tick, spec.id);
  return job;
}
