import { tickEvent } from '../../core/events.ts';
import type { JobSpec } from '../../core/job.ts';
import { jobOfTick, MAX_WAITING_TICKS, type Schedule, TICKS_KEPT_MS } from '../../core/schedule.ts';
import type { FiredTick, Firing } from '../contract/schedules.ts';
import { newJob } from '../new-rows.ts';
import { type Inserter, newInserter } from './insert.ts';
import { recordEvent, recordJobEvent } from './record-events.ts';
import * as sql from './sql/schedules.ts';
import type { Transaction } from './transaction.ts';

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
export async function fire(tx: Transaction, firings: Firing[], now: number): Promise<(FiredTick[] | null)[]> {
  const moved = await moveSchedules(tx, firings);
  const inserter = newInserter(tx, now);
  const jobs = newJobList(inserter);
  const handled = new Map<Firing, HandledTick[]>();
  for (const schedule of moved) handled.set(schedule.firing, await handleTicks(schedule, jobs));
  await jobs.end();
  await inserter.end();
  await Promise.all(moved.map((schedule) => storeTicks(tx, schedule, handled.get(schedule.firing)!, now)));
  return firings.map((firing) => {
    const ticks = handled.get(firing);
    if (ticks === undefined) return null;
    return ticks.map(({ at, spec, keyTaken, waits }) => {
      return { at, job: spec === null || keyTaken ? null : newJob(spec, now), waits };
    });
  });
}

/** Moves schedules to their next ticks. Leaves out those that were changed since they were read. */
async function moveSchedules(tx: Transaction, firings: Firing[]): Promise<MovedSchedule[]> {
  // All transactions lock schedules in the same order.
  const ordered = firings.toSorted((a, b) => a.schedule.number - b.schedule.number);
  const moved = await Promise.all(ordered.map((firing) => moveSchedule(tx, firing)));
  return moved.filter((schedule) => schedule !== null);
}

async function moveSchedule(tx: Transaction, firing: Firing): Promise<MovedSchedule | null> {
  const { schedule, nextAt, ticks } = firing;
  const { number } = schedule;
  if ((await tx.run(sql.moveSchedule, nextAt, number, schedule.nextAt, schedule.waiting)) === 0) return null;
  const times = ticks.map((tick) => tick.at);
  const [, waiting, openTick, added] = await Promise.all([
    tx.run(sql.closeTicks, number),
    schedule.waiting === 0 ? [] : tx.all<{ at: number }>(sql.waitingTicks, number),
    tx.get(sql.anyOpenTick, number),
    times.length === 0 ? [] : tx.all<{ at: number }>(sql.insertTicks, number, times),
  ]);
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
    async add(spec: JobSpec): Promise<boolean> {
      later.push(spec);
      return spec.unique === null || !(await inserter.add(later.splice(0))).has(spec);
    },
    end: () => inserter.add(later),
  };
}

/** Decides about the due and the waiting ticks of a schedule. */
async function handleTicks(
  { firing, ticks, waiting, hasUnfinishedJob }: MovedSchedule,
  jobs: ReturnType<typeof newJobList>,
): Promise<HandledTick[]> {
  const { schedule, waitingJobIds } = firing;
  const handled: HandledTick[] = [];
  let isBlocked = hasUnfinishedJob;
  const enqueue = async (at: number, id: string): Promise<void> => {
    const spec = jobOfTick(firing.job, id, at);
    const keyTaken = !(await jobs.add(spec));
    handled.push({ at, spec, keyTaken, waits: false });
    isBlocked = schedule.overlap !== 'allow' && !keyTaken;
  };

  // Waiting ticks come first. A tick is enqueued only while no job of the schedule is unfinished.
  for (const id of waitingJobIds) if (!isBlocked && waiting.length > 0) await enqueue(waiting.shift()!, id);
  for (const { at, mayWait, jobId } of ticks) {
    const waits = isBlocked && mayWait && waiting.length < MAX_WAITING_TICKS;
    if (!isBlocked) await enqueue(at, jobId);
    else handled.push({ at, spec: null, keyTaken: false, waits });
    if (waits) waiting.push(at);
  }
  return handled;
}

/** Stores what became of ticks, after their jobs were inserted, and events. Deletes old ticks of the schedule. */
async function storeTicks(
  tx: Transaction,
  { firing: { schedule }, waiting }: MovedSchedule,
  ticks: HandledTick[],
  now: number,
): Promise<void> {
  const { number } = schedule;
  const last = ticks.findLast((tick) => tick.spec !== null && !tick.keyTaken);
  await Promise.all([
    ...ticks.map((tick) =>
      tick.spec === null
        ? storeUnenqueuedTick(tx, schedule, tick)
        : storeTick(tx, schedule, tick.at, 0, tick.keyTaken ? null : tick.spec.id),
    ),
    tx.run(sql.storeLastTick, waiting.length, last?.at ?? null, last?.spec?.id ?? null, number),
    tx.run(sql.deleteOldTicks, number, now - TICKS_KEPT_MS),
  ]);
}

/** Stores a tick that waits or was skipped. */
async function storeUnenqueuedTick(
  tx: Transaction,
  schedule: Schedule,
  { at, waits }: HandledTick,
): Promise<void> {
  await Promise.all([
    waits && tx.run(sql.updateTick, 'waiting', null, schedule.number, at, 0),
    recordEvent(tx, tickEvent(schedule.name, at, false, waits)),
  ]);
}

/**
 * Stores the job of a tick, given by its id, and an event. The tick stays open until its job has ended, unless jobs of the
 * schedule may overlap or no job was added (null).
 */
export async function storeTick(
  tx: Transaction,
  schedule: Schedule,
  at: number,
  manual: 0 | 1,
  job: string | null,
): Promise<void> {
  const phase = schedule.overlap === 'allow' || job === null ? 'closed' : 'open';
  const event = tickEvent(schedule.name, at, manual === 1, false);
  await Promise.all([
    tx.run(sql.updateTick, phase, job, schedule.number, at, manual),
    job === null ? recordEvent(tx, event) : recordJobEvent(tx, event, job),
  ]);
}
