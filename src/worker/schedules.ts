import { type App, currentSettings } from '../actions/app.ts';
import { scheduledJob } from '../actions/jobs/jobs.ts';
import { QueueError } from '../core/errors.ts';
import type { JobSpec } from '../core/jobs/job.ts';
import { fireTimes, lastTimes } from '../core/schedules/fire-times.ts';
import { MAX_WAITING_TICKS, type Schedule } from '../core/schedules/schedule.ts';
import type { FiredTick, Firing } from '../store/contract/schedules.ts';
import { longTimeout } from './loops.ts';
import type { WorkerState } from './state.ts';

/** A tick that is late by no more than this does not count as missed, even if no worker was awake at its time. */
const GRACE_MS = 2000;
/** A wall clock that falls back by more than this was set. Smaller differences come from a clock that is adjusted slowly. */
const CLOCK_STEP_MS = 500;
/** A schedule that could not be fired is tried again after this time. */
const RETRY_MS = 1000;
/** At most this many schedules are fired before the worker settles and claims jobs again. */
const SCHEDULES_AT_ONCE = 100;

/** The state of scheduling between two rounds. */
export interface Scheduling {
  /** When the last round began that came to its end, by the monotonic clock. */
  lastRoundAt: number | null;
  /** When the current round began, by the monotonic clock, and the number of the last schedule that it has handled. */
  round: { startedAt: number; after: number } | null;
  /**
   * The highest difference between the wall clock and the monotonic clock since the wall clock was last set back. It is infinite
   * at first, so that the first round handles a clock that was set back before.
   */
  clockOffset: number;
  /** When to enqueue ticks next: at the next tick as of the last look, or later if a schedule could not be fired. Null if there is no tick. */
  nextAt: number | null;
  /** The numbers of the schedules whose errors have been reported. */
  readonly reportedSchedules: Set<number>;
}

export function newScheduling(): Scheduling {
  return {
    lastRoundAt: null,
    round: null,
    clockOffset: Number.POSITIVE_INFINITY,
    nextAt: null,
    reportedSchedules: new Set(),
  };
}

export type SchedulingWorker = Pick<WorkerState, 'app' | 'emit' | 'id' | 'scheduling'>;

/**
 * Enqueues the jobs of due ticks, even if all slots are busy, and sets the timer for the next tick. Returns whether it enqueued
 * a job or more ticks are due.
 */
export async function fireSchedules(worker: WorkerState): Promise<boolean> {
  if (worker.over || worker.order !== null || worker.savesSpace) return false;
  const { app, loops, timers, scheduling } = worker;
  const { enqueued, nextAt } = await fireDueTicks(worker, scheduling.nextAt);
  scheduling.nextAt = nextAt;
  const waitMs = nextAt === null ? null : nextAt - app.clock.now();
  timers.tick();
  if (waitMs !== null && waitMs > 0) timers.tick = longTimeout(loops.work.runNow, waitMs);
  // Other workers are woken for the new job, because this one may be busy or not serve its queue.
  if (enqueued > 0) app.wakeups.wake();
  return enqueued > 0 || (waitMs !== null && waitMs <= 0);
}

/**
 * Enqueues the jobs of due ticks, of at most SCHEDULES_AT_ONCE schedules, and returns when to do so again. That is now if more
 * ticks are due. `nextTick` is the time of the next tick in the store. The store ensures that only one worker enqueues each job.
 */
export async function fireDueTicks(
  worker: SchedulingWorker,
  nextTick: number | null,
): Promise<{ enqueued: number; nextAt: number | null }> {
  const { app, scheduling } = worker;
  const now = app.clock.now();
  const monotonic = app.clock.monotonic();
  // A tick since the last round is only late, not missed. The time since then is measured by the monotonic clock, which nobody can set.
  const awakeSince = now - Math.max(GRACE_MS, monotonic - (scheduling.lastRoundAt ?? monotonic));
  const rewound = await followClock(worker, now, monotonic);

  const round = scheduling.round ?? { startedAt: monotonic, after: 0 };
  const isDue = nextTick !== null && nextTick <= now;
  const due = isDue ? await app.store.dueSchedules(now, round.after, SCHEDULES_AT_ONCE) : [];
  const fired = await fireAll(worker, due, (schedule) => planDueTicks(schedule, awakeSince, now), now);
  const enqueued = rewound + fired.enqueued;
  // If another worker fires the same schedules, the rest is left to it. This worker checks later that nothing is left.
  if (due.length === SCHEDULES_AT_ONCE && fired.handled > 0) {
    scheduling.round = { ...round, after: due.at(-1)!.number };
    return { enqueued, nextAt: now };
  }
  scheduling.round = null;
  scheduling.lastRoundAt = round.startedAt;
  const nextAt = isDue ? (await app.store.agenda(worker.id, [], now)).nextTick : nextTick;
  return { enqueued, nextAt: nextAt === null || nextAt > now ? nextAt : now + RETRY_MS };
}

/** Moves schedules back to an earlier next tick if the wall clock was set back. Returns how many jobs it enqueued. */
async function followClock(worker: SchedulingWorker, now: number, monotonic: number): Promise<number> {
  const { app, scheduling } = worker;
  let enqueued = 0;
  if (now - monotonic < scheduling.clockOffset - CLOCK_STEP_MS) {
    const schedules = await app.store.schedules();
    enqueued = (await fireAll(worker, schedules, (schedule) => planRewind(schedule, now), now)).enqueued;
    scheduling.clockOffset = now - monotonic;
  }
  scheduling.clockOffset = Math.max(scheduling.clockOffset, now - monotonic);
  return enqueued;
}

/** At most this many ticks of a schedule are fired together, after a long time without workers or a large clock change. */
const MAX_TICKS = 1000;
/** A transaction fires schedules until it has this many ticks, so that other writers do not wait long. */
const TICKS_AT_ONCE = 100;
/** If a generated job id is taken, which is very rare, new ids are generated. This is the number of tries. */
const ID_TRIES = 5;
/** The codes of errors that the schedule itself causes. */
const SCHEDULE_ERRORS = new Set(['invalid-cron', 'invalid-job', 'job-exists']);

/** A firing without job ids. New ids are generated for every try. */
type FiringPlan = Pick<Firing, 'schedule' | 'nextAt'> & { ticks: Omit<Firing['ticks'][number], 'jobId'>[] };
type PlannedFiring = FiringPlan & { job: JobSpec };

/** Decides which ticks of a schedule to enqueue: all that are on time, and the missed ones that `catchUp` selects. */
async function planDueTicks(schedule: Schedule, awakeSince: number, now: number): Promise<FiringPlan> {
  const { nextAt, catchUp, overlap } = schedule;
  if (nextAt === null || nextAt > now) return { schedule, ticks: [], nextAt };
  const times = await fireTimes(schedule.timing);
  const due = lastTimes(times, nextAt, now, MAX_TICKS);
  const missed = due.filter((at) => at <= awakeSince);
  const caughtUp = { none: [], one: missed.slice(-1), all: missed }[catchUp];
  const ticks = [
    // With `all`, missed ticks run one after another instead of being skipped because of the job before them.
    ...caughtUp.map((at) => ({ at, mayWait: overlap === 'queue' || catchUp === 'all' })),
    ...due.slice(missed.length).map((at) => ({ at, mayWait: overlap === 'queue' })),
  ];
  return { schedule, ticks, nextAt: times.after(now) };
}

/**
 * Decides whether a schedule moves back to an earlier next tick, because the clock was set back. Otherwise a clock that was a
 * year ahead for a moment would stop the schedule for a year. Returns null if the next tick stays.
 */
async function planRewind(schedule: Schedule, now: number): Promise<FiringPlan | null> {
  if (schedule.nextAt === null || schedule.nextAt <= now) return null;
  const nextAt = (await fireTimes(schedule.timing)).after(now);
  return nextAt !== null && nextAt < schedule.nextAt ? { schedule, ticks: [], nextAt } : null;
}

export interface Fired {
  /** How many jobs were enqueued. */
  enqueued: number;
  /** How many schedules were fired or have an error. All others were changed in the meantime, as by another worker. */
  handled: number;
}

/** Fires schedules by the plans from `plan`, many in one transaction. Reports an error in a schedule instead of throwing it. */
async function fireAll(
  worker: SchedulingWorker,
  schedules: Schedule[],
  plan: (schedule: Schedule) => Promise<FiringPlan | null>,
  now: number,
): Promise<Fired> {
  const fired: Fired = { enqueued: 0, handled: 0 };
  if (schedules.length === 0) return fired;
  const settings = await currentSettings(worker.app);
  let batch: PlannedFiring[] = [];
  let ticks = 0;
  for (const schedule of schedules) {
    try {
      const planned = await plan(schedule);
      if (planned === null) continue;
      batch.push({ ...planned, job: scheduledJob(schedule, settings) });
      ticks += Math.max(1, planned.ticks.length + schedule.waiting);
    } catch (error) {
      report(worker, schedule, error, fired);
    }
    if (ticks < TICKS_AT_ONCE) continue;
    await fireTogether(worker, batch, now, fired);
    batch = [];
    ticks = 0;
  }
  if (batch.length > 0) await fireTogether(worker, batch, now, fired);
  return fired;
}

/** Fires schedules in one transaction or, if one of them has an error, in one transaction each. Adds the results to `fired`. */
async function fireTogether(
  worker: SchedulingWorker,
  batch: PlannedFiring[],
  now: number,
  fired: Fired,
): Promise<void> {
  try {
    const results = await fire(worker.app, batch, now);
    for (const [i, ticks] of results.entries())
      if (ticks !== null) announce(worker, batch[i]!.schedule, ticks, fired);
  } catch (error) {
    if (batch.length === 1) report(worker, batch[0]!.schedule, error, fired);
    else if (!isScheduleError(error)) throw error;
    else for (const one of batch) await fireTogether(worker, [one], now, fired);
  }
}

function announce({ emit }: SchedulingWorker, schedule: Schedule, ticks: FiredTick[], fired: Fired): void {
  fired.handled++;
  for (const { at, job, waits } of ticks) {
    emit({ type: 'tick', schedule: schedule.name, at, jobId: job?.id ?? null, waits });
    if (job !== null) fired.enqueued++;
  }
}

/** Reports an error that a schedule causes, once. Throws any other error. */
function report(
  { emit, id, scheduling: { reportedSchedules } }: SchedulingWorker,
  schedule: Schedule,
  error: unknown,
  fired: Fired,
): void {
  if (!isScheduleError(error)) throw error;
  fired.handled++;
  if (!reportedSchedules.has(schedule.number))
    emit({ type: 'worker-error', workerId: id, message: `schedule ${schedule.name}: ${error.message}` });
  reportedSchedules.add(schedule.number);
}

function isScheduleError(error: unknown): error is QueueError {
  return error instanceof QueueError && SCHEDULE_ERRORS.has(error.code);
}

async function fire(app: App, batch: PlannedFiring[], now: number): Promise<(FiredTick[] | null)[]> {
  const newId = (): string => app.newId(now);
  for (let tries = 1; ; tries++) {
    const firings = batch.map((plan) => {
      const ticks = plan.ticks.map((tick) => ({ ...tick, jobId: newId() }));
      // The stored number may be damaged and very high, so it is limited.
      const waitingJobIds = Array.from({ length: Math.min(plan.schedule.waiting, MAX_WAITING_TICKS) }, newId);
      return { ...plan, ticks, waitingJobIds };
    });
    try {
      return await app.store.fire(firings, now);
    } catch (error) {
      if (!(error instanceof QueueError && error.code === 'job-exists') || tries >= ID_TRIES) throw error;
    }
  }
}
