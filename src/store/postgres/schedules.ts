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
import { isForeignKeyViolation } from './failures.ts';
import { insert } from './insert.ts';
import { recordEvent, recordJobEvent } from './record-events.ts';
import * as sql from './sql/schedules.ts';
import type { Transaction } from './transaction.ts';

export function scheduleStore(db: Connection): ScheduleStore {
  return {
    addSchedule: (spec, nextAt, now) => db.write('addSchedule', (tx) => addSchedule(tx, spec, nextAt, now)),
    schedules: () => db.read(async (tx) => (await tx.all(sql.schedules)).map(toSchedule)),
    editSchedule: (spec, nextAt) =>
      db.write('editSchedule', async (tx) => {
        if ((await tx.run(sql.updateSchedule, ...scheduleValues(spec), nextAt, spec.name)) === 0) return null;
        await recordEvent(tx, { kind: 'schedule-edited', detail: { schedule: spec.name } });
        return byName(tx, spec.name);
      }),
    removeSchedule: (name) =>
      db.write('removeSchedule', async (tx) => {
        if ((await tx.run(sql.deleteSchedule, name)) === 0) return false;
        await recordEvent(tx, { kind: 'schedule-removed', detail: { schedule: name } });
        return true;
      }),
    pauseSchedule: (name, paused, nextAt) =>
      db.write('pauseSchedule', async (tx) => {
        if ((await tx.run(sql.pauseSchedule, paused?.at ?? null, paused?.by ?? null, nextAt, name)) === 0)
          return null;
        const kind = paused === null ? 'schedule-resumed' : 'schedule-paused';
        await recordEvent(tx, { kind, detail: { schedule: name } });
        return byName(tx, name);
      }),
    nextTick: () =>
      db.read(async (tx) => {
        const row = (await tx.get(sql.nextTick))!;
        return row.releasable === 1 ? 0 : (row.next_at as number | null);
      }),
    dueSchedules: (now) => db.read((tx) => dueSchedules(tx, now)),
    // A queue, or the schedule itself, was removed after its number was read.
    fire: (firing, now) => db.write('fire', (tx) => fire(tx, firing, now), isForeignKeyViolation),
    fireNow: (name, job, now) =>
      db.write('fireNow', (tx) => fireNow(tx, name, job, now), isForeignKeyViolation),
  };
}

async function addSchedule(
  tx: Transaction,
  spec: ScheduleSpec,
  nextAt: number,
  now: number,
): Promise<Schedule> {
  const { name } = spec;
  if ((await tx.run(sql.insertSchedule, name, ...scheduleValues(spec), nextAt, now)) === 0)
    throw new QueueError('schedule-exists', `a schedule named '${name}' already exists`);
  await recordEvent(tx, { kind: 'schedule-added', detail: { schedule: name } });
  return (await byName(tx, name))!;
}

async function byName(tx: Transaction, name: string): Promise<Schedule | null> {
  return mapIfFound(await tx.get(sql.scheduleByName, name), toSchedule);
}

async function dueSchedules(tx: Transaction, now: number): Promise<Schedule[]> {
  const rows = await Promise.all([tx.all(sql.dueSchedules, now), tx.all(sql.releasableSchedules)]);
  return [...new Map(rows.flat().map((row) => [row.number, toSchedule(row)])).values()];
}

async function fire(tx: Transaction, firing: Firing, now: number): Promise<FiredTick[] | null> {
  const { schedule, ticks, nextAt, waitingJobIds } = firing;
  const { number, overlap } = schedule;
  if ((await tx.run(sql.moveSchedule, nextAt, number, schedule.nextAt, schedule.waiting)) === 0) return null;
  const [, waitingTicks, openTick] = await Promise.all([
    tx.run(sql.closeTicks, number),
    tx.all<{ at: number }>(sql.waitingTicks, number),
    tx.get(sql.anyOpenTick, number),
  ]);
  const waiting = waitingTicks.map((tick) => tick.at);
  let hasUnfinishedJob = openTick !== undefined;
  const fired: FiredTick[] = [];
  const enqueue = async (at: number, id: string): Promise<void> => {
    const job = await enqueueTick(tx, schedule, at, 0, jobOfTick(firing.job, id, at), now);
    fired.push({ at, job: job.existing ? null : job, waits: false });
    hasUnfinishedJob = overlap !== 'allow' && !job.existing;
  };

  // Waiting ticks come first. A tick is enqueued only while no job of the schedule is unfinished.
  for (const id of waitingJobIds)
    if (!hasUnfinishedJob && waiting.length > 0) await enqueue(waiting.shift()!, id);
  for (const { at, mayWait, jobId } of ticks) {
    const waits = hasUnfinishedJob && mayWait && waiting.length < MAX_WAITING_TICKS;
    if ((await tx.run(sql.insertTick, number, at, 0, waits ? 'waiting' : 'closed')) === 0) continue;
    if (!hasUnfinishedJob) await enqueue(at, jobId);
    else {
      fired.push({ at, job: null, waits });
      await recordEvent(tx, tickEvent(schedule.name, at, false, waits));
    }
    if (waits) waiting.push(at);
  }
  await Promise.all([
    tx.run(sql.setWaiting, waiting.length, number),
    tx.run(sql.deleteOldTicks, number, now - TICKS_KEPT_MS),
  ]);
  return fired;
}

async function fireNow(tx: Transaction, name: string, job: JobSpec, now: number): Promise<Job | null> {
  const schedule = await byName(tx, name);
  if (schedule === null) return null;
  let at = now;
  while ((await tx.run(sql.insertTick, schedule.number, at, 1, 'closed')) === 0) at++;
  return enqueueTick(tx, schedule, at, 1, job, now);
}

/**
 * Adds the job of a tick, or returns the job that has its unique key. The tick stays open until its job has ended, unless
 * jobs of the schedule may overlap or no job was added.
 */
async function enqueueTick(
  tx: Transaction,
  schedule: Schedule,
  at: number,
  manual: 0 | 1,
  spec: JobSpec,
  now: number,
): Promise<Job> {
  const job = (await insert(tx, [spec], now))[0]!;
  const tick = tickEvent(schedule.name, at, manual === 1, false);
  if (job.existing) {
    await Promise.all([tx.run(sql.closeTick, schedule.number, at, manual), recordEvent(tx, tick)]);
    return job;
  }
  const phase = schedule.overlap === 'allow' ? 'closed' : 'open';
  await Promise.all([
    tx.run(sql.setJobOfTick, phase, spec.id, schedule.number, at, manual),
    tx.run(sql.storeLastTick, at, spec.id, schedule.number),
    recordJobEvent(tx, tick, spec.id),
  ]);
  return job;
}
