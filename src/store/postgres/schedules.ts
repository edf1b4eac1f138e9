import { QueueError } from '../../core/errors.ts';
import type { Job, JobSpec } from '../../core/job.ts';
import type { Schedule, ScheduleSpec } from '../../core/schedule.ts';
import type { ScheduleStore } from '../contract/schedules.ts';
import { mapIfFound } from '../rows.ts';
import { scheduleValues, toSchedule } from '../schedule-rows.ts';
import type { Connection } from './connection.ts';
import { isForeignKeyViolation } from './failures.ts';
import { fire, storeTick } from './fire.ts';
import { insert } from './insert.ts';
import { recordEvent } from './record-events.ts';
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
    dueSchedules: (now, after, limit) => db.read((tx) => dueSchedules(tx, now, after, limit)),
    // A queue, or the schedule itself, was removed after its number was read.
    fire: (firings, now) => db.write('fire', (tx) => fire(tx, firings, now), isForeignKeyViolation),
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

async function dueSchedules(tx: Transaction, now: number, after: number, limit: number): Promise<Schedule[]> {
  const rows = await Promise.all([
    tx.all(sql.dueSchedules, now, after, limit),
    tx.all(sql.releasableSchedules, after, limit),
  ]);
  const schedules = [...new Map(rows.flat().map((row) => [row.number, toSchedule(row)])).values()];
  return schedules.sort((a, b) => a.number - b.number).slice(0, limit);
}

async function fireNow(tx: Transaction, name: string, spec: JobSpec, now: number): Promise<Job | null> {
  const schedule = await byName(tx, name);
  if (schedule === null) return null;
  let at = now;
  while ((await tx.run(sql.insertTick, schedule.number, at, 1, 'closed')) === 0) at++;
  const job = (await insert(tx, [spec], now))[0]!;
  await Promise.all([
    !job.existing && tx.run(sql.storeLastTick, null, at, spec.id, schedule.number),
    storeTick(tx, schedule, at, 1, job.existing ? null : spec.id),
  ]);
  return job;
}
