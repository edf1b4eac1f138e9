import { fireAll, planDueTicks, planRewind } from './firing.ts';
import type { WorkerState } from './state.ts';
import { longTimeout } from './timer.ts';

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
  if (worker.over || worker.order !== null) return false;
  const { app, loops, timers, scheduling } = worker;
  const { enqueued, nextAt } = await fireDueTicks(worker, scheduling.nextAt);
  scheduling.nextAt = nextAt;
  const waitMs = nextAt === null ? null : nextAt - app.clock.now();
  timers.tick();
  if (waitMs !== null && waitMs > 0) timers.tick = longTimeout(loops.work.runNow, waitMs);
  // Other workers are woken for the new job, because this one may be busy or not serve its queue.
  if (enqueued > 0) app.signals.wake();
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
