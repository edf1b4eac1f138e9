import { type App, currentSettings } from '../actions/app.ts';
import { scheduledJob } from '../actions/schedules.ts';
import { QueueError } from '../core/errors.ts';
import type { Emit } from '../core/events.ts';
import { MOST_WAITING_TICKS, type Schedule } from '../core/schedule.ts';
import { fireTimes, lastTimes } from '../core/times.ts';
import type { FiredTick, Firing } from '../store/contract/schedules.ts';

/** A tick this late is not called missed, even when nobody can say who was awake at its time. */
const GRACE_MS = 2000;
/** No more ticks than this at once, however long nobody was there or however far the clock was set. */
const MOST_AT_ONCE = 1000;
/** So far a clock drifts back by being put right gently; more is a step. */
const STEP_MS = 500;
/** When something stands in a schedule's way, look again after so long. */
const AGAIN_MS = 1000;
const ID_TRIES = 5;

export interface Scheduler {
  /** Fires what is due. Answers how many jobs it enqueued, and when to look again (null: when woken). */
  runOnce(): Promise<{ enqueued: number; nextAt: number | null }>;
}

/** Every worker has one: whoever sees a tick first enqueues it, and the store sees to it that nobody else does. */
export function createScheduler(app: App, emit: Emit, workerId: string): Scheduler {
  let lastLook: number | null = null;
  /** Wall clock minus monotonic clock, at its most: falls only when the clock is set back. Checked at the start, too. */
  let offset = Number.POSITIVE_INFINITY;
  const complained = new Set<number>();

  /** What one schedule's own contents cause must stop neither the others nor the worker. */
  const carryOut = async (
    schedule: Schedule,
    decide: () => Promise<Decided | null>,
    now: number,
  ): Promise<number> => {
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
        emit({ type: 'worker-error', workerId, message: `schedule ${schedule.name}: ${error.message}` });
      complained.add(schedule.number);
      return 0;
    }
  };

  return {
    async runOnce() {
      const now = app.clock.now();
      const monotonic = app.clock.monotonic();
      // In time this scheduler was awake for, by a clock that nobody sets, a tick is late at most, never missed.
      const awakeSince = now - Math.max(GRACE_MS, monotonic - (lastLook ?? monotonic));
      let enqueued = 0;
      if (now - monotonic < offset - STEP_MS) {
        for (const schedule of await app.store.schedules())
          enqueued += await carryOut(schedule, () => decideRewind(schedule, now), now);
        offset = now - monotonic;
      }
      offset = Math.max(offset, now - monotonic);
      lastLook = monotonic;

      const first = await app.store.nextTick();
      if (first === null || first > now) return { enqueued, nextAt: first };
      for (const schedule of await app.store.dueSchedules(now))
        enqueued += await carryOut(schedule, () => decideFiring(schedule, awakeSince, now), now);
      const nextAt = await app.store.nextTick();
      return { enqueued, nextAt: nextAt === null || nextAt > now ? nextAt : now + AGAIN_MS };
    },
  };
}

/** A firing without the job and its ids, which are new with every try. */
type Decided = Pick<Firing, 'schedule' | 'nextAt'> & { ticks: Omit<Firing['ticks'][number], 'jobId'>[] };

const OF_ONE_SCHEDULE = new Set(['invalid-cron', 'invalid-job', 'job-exists']);

async function apply(app: App, decided: Decided, now: number): Promise<FiredTick[]> {
  const { schedule } = decided;
  const job = scheduledJob(schedule, await currentSettings(app));
  const newId = (): string => app.newId(now);
  for (let tries = 1; ; tries++) {
    const ticks = decided.ticks.map((tick) => ({ ...tick, jobId: newId() }));
    // A damaged row may hold any number, and that many ids might not fit into memory.
    const waitingJobIds = Array.from({ length: Math.min(schedule.waiting, MOST_WAITING_TICKS) }, newId);
    try {
      return (await app.store.fire({ ...decided, ticks, waitingJobIds, job }, now)) ?? [];
    } catch (error) {
      // A generated id that exists, about once in a lifetime.
      if (!(error instanceof QueueError && error.code === 'job-exists') || tries >= ID_TRIES) throw error;
    }
  }
}

/** Which ticks of a schedule are enqueued now: all that are on time, and of the missed ones what it asks for. */
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
 * After a clock was set back, ticks that now lie ahead again are due again, unless they were enqueued: otherwise a
 * clock that was a year ahead for a moment would silence every schedule for a year.
 */
async function decideRewind(schedule: Schedule, now: number): Promise<Decided | null> {
  if (schedule.nextAt === null || schedule.nextAt <= now) return null;
  const nextAt = (await fireTimes(schedule.timing)).after(now);
  return nextAt !== null && nextAt < schedule.nextAt ? { schedule, ticks: [], nextAt } : null;
}
