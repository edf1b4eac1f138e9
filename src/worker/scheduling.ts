import { type App, currentSettings } from '../actions/app.ts';
import { scheduledJob } from '../actions/schedules.ts';
import { QueueError } from '../core/errors.ts';
import { fireTimes, lastTimes } from '../core/fire-times.ts';
import { MAX_WAITING_TICKS, type Schedule } from '../core/schedule.ts';
import type { FiredTick, Firing } from '../store/contract/schedules.ts';
import type { WorkerState } from './state.ts';
import { longTimeout } from './timer.ts';

/** A tick that is late by no more than this does not count as missed, even if no worker was awake at its time. */
const GRACE_MS = 2000;
/** At most this many ticks of a schedule are fired together, after a long time without workers or a large clock change. */
const MAX_TICKS = 1000;
/** A wall clock that falls back by more than this was set. Smaller differences come from a clock that is adjusted slowly. */
const CLOCK_STEP_MS = 500;
/** A schedule that could not be fired is tried again after this time. */
const RETRY_MS = 1000;
/** If a generated job id is taken, which is very rare, new ids are generated. This is the number of tries. */
const ID_TRIES = 5;

/** The state of scheduling between two rounds. */
export interface Scheduling {
  /** The time of the last round, by the monotonic clock. */
  lastRoundAt: number | null;
  /**
   * The highest difference between the wall clock and the monotonic clock since the wall clock was last set back. It is infinite
   * at first, so that the first round handles a clock that was set back before.
   */
  clockOffset: number;
  /** The time of the next tick at the last round. Null if there was none. */
  nextAt: number | null;
  /** The numbers of the schedules whose errors have been reported. */
  readonly reportedSchedules: Set<number>;
}

export function newScheduling(): Scheduling {
  return {
    lastRoundAt: null,
    clockOffset: Number.POSITIVE_INFINITY,
    nextAt: null,
    reportedSchedules: new Set(),
  };
}

type SchedulingWorker = Pick<WorkerState, 'app' | 'emit' | 'id' | 'scheduling'>;

/** Enqueues the jobs of due ticks, even if all slots are busy, and sets the timer for the next tick. Returns whether it enqueued a job. */
export async function fireSchedules(worker: WorkerState): Promise<boolean> {
  if (worker.over || worker.order !== null) return false;
  const { app, loops, timers, scheduling } = worker;
  const { enqueued, nextAt } = await fireDueTicks(worker);
  scheduling.nextAt = nextAt;
  timers.tick();
  if (nextAt !== null) timers.tick = longTimeout(loops.work.runNow, Math.max(0, nextAt - app.clock.now()));
  // Other workers are woken for the new job, because this one may be busy or not serve its queue.
  if (enqueued > 0) app.signals.wake();
  return enqueued > 0;
}

/** Enqueues the jobs of the due ticks and returns when to do so again. The store ensures that only one worker enqueues each job. */
export async function fireDueTicks(
  worker: SchedulingWorker,
): Promise<{ enqueued: number; nextAt: number | null }> {
  const { app, scheduling } = worker;
  const now = app.clock.now();
  const monotonic = app.clock.monotonic();
  // A tick since the last round is only late, not missed. The time since then is measured by the monotonic clock, which nobody can set.
  const awakeSince = now - Math.max(GRACE_MS, monotonic - (scheduling.lastRoundAt ?? monotonic));
  let enqueued = 0;
  if (now - monotonic < scheduling.clockOffset - CLOCK_STEP_MS) {
    for (const schedule of await app.store.schedules())
      enqueued += await fireSchedule(worker, schedule, () => decideRewind(schedule, now), now);
    scheduling.clockOffset = now - monotonic;
  }
  scheduling.clockOffset = Math.max(scheduling.clockOffset, now - monotonic);
  scheduling.lastRoundAt = monotonic;

  const nextTick = await app.store.nextTick();
  if (nextTick === null || nextTick > now) return { enqueued, nextAt: nextTick };
  for (const schedule of await app.store.dueSchedules(now))
    enqueued += await fireSchedule(worker, schedule, () => decideFiring(schedule, awakeSince, now), now);
  const nextAt = await app.store.nextTick();
  return { enqueued, nextAt: nextAt === null || nextAt > now ? nextAt : now + RETRY_MS };
}

/** Carries out the plan from `decide`. Returns how many jobs it enqueued. Reports an error in the schedule instead of throwing it. */
async function fireSchedule(
  { app, emit, id, scheduling: { reportedSchedules } }: SchedulingWorker,
  schedule: Schedule,
  decide: () => Promise<FiringPlan | null>,
  now: number,
): Promise<number> {
  try {
    const plan = await decide();
    const fired = plan === null ? [] : await fire(app, plan, now);
    for (const { at, job, waits } of fired) {
      emit({ type: 'tick', schedule: schedule.name, at, jobId: job?.id ?? null, waits });
    }
    return fired.filter((tick) => tick.job !== null).length;
  } catch (error) {
    if (!(error instanceof QueueError && SCHEDULE_ERRORS.has(error.code))) throw error;
    if (!reportedSchedules.has(schedule.number))
      emit({ type: 'worker-error', workerId: id, message: `schedule ${schedule.name}: ${error.message}` });
    reportedSchedules.add(schedule.number);
    return 0;
  }
}

/** A firing without its job and without job ids. New ids are generated for every try. */
type FiringPlan = Pick<Firing, 'schedule' | 'nextAt'> & { ticks: Omit<Firing['ticks'][number], 'jobId'>[] };

/** The codes of errors that the schedule itself causes. */
const SCHEDULE_ERRORS = new Set(['invalid-cron', 'invalid-job', 'job-exists']);

async function fire(app: App, plan: FiringPlan, now: number): Promise<FiredTick[]> {
  const { schedule } = plan;
  const job = scheduledJob(schedule, await currentSettings(app));
  const newId = (): string => app.newId(now);
  for (let tries = 1; ; tries++) {
    const ticks = plan.ticks.map((tick) => ({ ...tick, jobId: newId() }));
    // The stored number may be damaged and very high, so it is limited.
    const waitingJobIds = Array.from({ length: Math.min(schedule.waiting, MAX_WAITING_TICKS) }, newId);
    try {
      return (await app.store.fire({ ...plan, ticks, waitingJobIds, job }, now)) ?? [];
    } catch (error) {
      if (!(error instanceof QueueError && error.code === 'job-exists') || tries >= ID_TRIES) throw error;
    }
  }
}

/** Decides which ticks of a schedule to enqueue: all that are on time, and the missed ones that `catchUp` selects. */
async function decideFiring(schedule: Schedule, awakeSince: number, now: number): Promise<FiringPlan> {
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
async function decideRewind(schedule: Schedule, now: number): Promise<FiringPlan | null> {
  if (schedule.nextAt === null || schedule.nextAt <= now) return null;
  const nextAt = (await fireTimes(schedule.timing)).after(now);
  return nextAt !== null && nextAt < schedule.nextAt ? { schedule, ticks: [], nextAt } : null;
}
