import { type App, currentSettings } from '../actions/app.ts';
import { scheduledJob } from '../actions/schedules.ts';
import { QueueError } from '../core/errors.ts';
import { MOST_WAITING_TICKS, type Schedule } from '../core/schedule.ts';
import { fireTimes, lastTimes } from '../core/times.ts';
import { wake } from '../state/wake.ts';
import type { FiredTick, Firing } from '../store/contract/schedules.ts';
import type { WorkerState } from './state.ts';
import { longTimeout } from './timer.ts';

/** A tick that is late by no more than this does not count as missed, even if no worker was awake at its time. */
const GRACE_MS = 2000;
/** Fires no more ticks than this at once, however long no worker ran or however far the clock was set. */
const MOST_AT_ONCE = 1000;
/** A clock that is slewed falls back by less than this; more is a step. */
const STEP_MS = 500;
/** Looks again after this time at a schedule that could not be fired. */
const AGAIN_MS = 1000;
const ID_TRIES = 5;

/** Holds what a worker remembers from one look at the schedules to the next. */
export interface Scheduling {
  lastLook: number | null;
  /** Wall clock minus monotonic clock, at its most: falls only when the clock is set back. Checked at the start, too. */
  offset: number;
  /** Schedules whose errors were reported. */
  readonly complained: Set<number>;
}

export function newScheduling(): Scheduling {
  return { lastLook: null, offset: Number.POSITIVE_INFINITY, complained: new Set() };
}

type SchedulingWorker = Pick<WorkerState, 'app' | 'emit' | 'id' | 'scheduling'>;

/** Fires the schedules that are due, whether the worker is busy or not. Returns whether it enqueued a job. */
export async function tick(worker: WorkerState): Promise<boolean> {
  if (worker.over || worker.order !== null) return false;
  const { app, loops, timers } = worker;
  const { enqueued, nextAt } = await fireDue(worker);
  timers.tick();
  if (nextAt !== null) timers.tick = longTimeout(loops.work.now, Math.max(0, nextAt - app.clock.now()));
  // Those who saw the tick too late look again: this worker may be busy, or not serve the queue.
  if (enqueued > 0) wake(app.stateDirectory);
  return enqueued > 0;
}

/**
 * Enqueues the ticks that are due. Every worker does this: the first to see a tick enqueues it, and the store sees to it that
 * nobody else does. Returns how many jobs it enqueued, and when to look again (null: when woken).
 */
export async function fireDue(
  worker: SchedulingWorker,
): Promise<{ enqueued: number; nextAt: number | null }> {
  const { app, scheduling } = worker;
  const now = app.clock.now();
  const monotonic = app.clock.monotonic();
  // In time this scheduler was awake for, by a clock that nobody sets, a tick is late at most, never missed.
  const awakeSince = now - Math.max(GRACE_MS, monotonic - (scheduling.lastLook ?? monotonic));
  let enqueued = 0;
  if (now - monotonic < scheduling.offset - STEP_MS) {
    for (const schedule of await app.store.schedules())
      enqueued += await carryOut(worker, schedule, () => decideRewind(schedule, now), now);
    scheduling.offset = now - monotonic;
  }
  scheduling.offset = Math.max(scheduling.offset, now - monotonic);
  scheduling.lastLook = monotonic;

  const first = await app.store.nextTick();
  if (first === null || first > now) return { enqueued, nextAt: first };
  for (const schedule of await app.store.dueSchedules(now))
    enqueued += await carryOut(worker, schedule, () => decideFiring(schedule, awakeSince, now), now);
  const nextAt = await app.store.nextTick();
  return { enqueued, nextAt: nextAt === null || nextAt > now ? nextAt : now + AGAIN_MS };
}

/** Fires one schedule. An error in its own contents stops neither the other schedules nor the worker. */
async function carryOut(
  { app, emit, id, scheduling: { complained } }: SchedulingWorker,
  schedule: Schedule,
  decide: () => Promise<Decided | null>,
  now: number,
): Promise<number> {
  try {
    const firing = await decide();
    const fired = firing === null ? [] : await apply(app, firing, now);
    for (const { at, job, waits } of fired) {
      emit({ type: 'tick', schedule: schedule.name, at, jobId: job?.id ?? null, waits });
    }
    return fired.filter((tick) => tick.job !== null).length;
  } catch (error) {
    if (!(error instanceof QueueError && OF_ONE_SCHEDULE.has(error.code))) throw error;
    if (!complained.has(schedule.number))
      emit({ type: 'worker-error', workerId: id, message: `schedule ${schedule.name}: ${error.message}` });
    complained.add(schedule.number);
    return 0;
  }
}

/** Describes a firing without the job and its ids, which are new with every try. */
type Decided = Pick<Firing, 'schedule' | 'nextAt'> & { ticks: Omit<Firing['ticks'][number], 'jobId'>[] };

const OF_ONE_SCHEDULE = new Set(['invalid-cron', 'invalid-job', 'job-exists']);

async function apply(app: App, decided: Decided, now: number): Promise<FiredTick[]> {
  const { schedule } = decided;
  const job = scheduledJob(schedule, await currentSettings(app));
  const newId = (): string => app.newId(now);
  for (let tries = 1; ; tries++) {
    const ticks = decided.ticks.map((tick) => ({ ...tick, jobId: newId() }));
    // The stored number may be damaged, so it does not decide how much memory this takes.
    const waitingJobIds = Array.from({ length: Math.min(schedule.waiting, MOST_WAITING_TICKS) }, newId);
    try {
      return (await app.store.fire({ ...decided, ticks, waitingJobIds, job }, now)) ?? [];
    } catch (error) {
      // A generated id that exists, about once in a lifetime.
      if (!(error instanceof QueueError && error.code === 'job-exists') || tries >= ID_TRIES) throw error;
    }
  }
}

/** Decides which ticks of a schedule to enqueue: all that are on time, and of the missed ones those it asks for. */
async function decideFiring(schedule: Schedule, awakeSince: number, now: number): Promise<Decided> {
  const { nextAt, catchUp, overlap } = schedule;
  if (nextAt === null || nextAt > now) return { schedule, ticks: [], nextAt };
  const times = await fireTimes(schedule.timing);
  const due = lastTimes(times, nextAt, now, MOST_AT_ONCE);
  const missed = due.filter((at) => at <= awakeSince);
  const madeUpFor = { none: [], one: missed.slice(-1), all: missed }[catchUp];
  const ticks = [
    // Whoever wants every missed tick wants them one after another rather than skipped.
    ...madeUpFor.map((at) => ({ at, mayWait: overlap === 'queue' || catchUp === 'all' })),
    ...due.slice(missed.length).map((at) => ({ at, mayWait: overlap === 'queue' })),
  ];
  return { schedule, ticks, nextAt: times.after(now) };
}

/**
 * Moves a schedule back to its next tick after the clock was set back. Ticks that were enqueued are not repeated. Otherwise a
 * clock that was a year ahead for a moment would silence every schedule for a year.
 */
async function decideRewind(schedule: Schedule, now: number): Promise<Decided | null> {
  if (schedule.nextAt === null || schedule.nextAt <= now) return null;
  const nextAt = (await fireTimes(schedule.timing)).after(now);
  return nextAt !== null && nextAt < schedule.nextAt ? { schedule, ticks: [], nextAt } : null;
}
