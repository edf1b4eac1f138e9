import { nextClockChange } from '../core/clock-change.ts';
import { timingText } from '../core/cron-text.ts';
import { fireTimes, nextTimes } from '../core/fire-times.ts';
import { queueOf, type Schedule, type Timing } from '../core/schedule.ts';
import { toIso } from '../core/time.ts';
import type { ScheduleObject, TimesObject } from '../core/wire.ts';
import { readableCommand } from './enqueue.ts';
import { checkTiming } from './schedules.ts';

/** A schedule lists this many of its next runs. */
const NEXT_RUNS = 5;

export async function toScheduleObject(schedule: Schedule, now: number): Promise<ScheduleObject> {
  const { timing, job, nextAt } = schedule;
  return {
    name: schedule.name,
    ...timingFields(timing),
    overlap: schedule.overlap,
    catch_up: schedule.catchUp,
    paused: schedule.pausedAt !== null,
    paused_at: toIso(schedule.pausedAt),
    paused_by: schedule.pausedBy,
    next_run_at: toIso(nextAt),
    // If no worker is running, the time of the next tick may have passed.
    next_runs: nextAt === null ? [] : await nextRuns(timing, Math.max(now, nextAt - 1)),
    last_run_at: toIso(schedule.lastAt),
    last_job_id: schedule.lastJob,
    waiting: schedule.waiting,
    created_at: toIso(schedule.createdAt),
    command: job.command ?? readableCommand(job.argv!),
    argv: job.argv ?? null,
    queue: queueOf(schedule),
    job: {
      name: job.name ?? schedule.name,
      priority: job.priority ?? 0,
      max_retries: job.maxRetries ?? null,
      timeout_ms: job.timeoutMs ?? null,
      backoff_base: job.backoffBase ?? null,
      cwd: job.cwd ?? null,
      env: job.env ?? {},
      tags: job.tags ?? {},
    },
  };
}

/** Returns a description and the next runs of a schedule with this timing, without creating it. */
export async function previewSchedule(given: Timing, now: number): Promise<TimesObject> {
  const { timing } = await checkTiming(given, now);
  const change = await nextClockChange(timing, now);
  return {
    ...timingFields(timing),
    next_runs: await nextRuns(timing, now),
    clock_change: change === null ? null : { at: toIso(change.at), says: change.says },
  };
}

function timingFields(timing: Timing): Pick<ScheduleObject, 'cron' | 'timezone' | 'every_ms' | 'text'> {
  const text = timingText(timing);
  return timing.kind === 'cron'
    ? { cron: timing.cron, timezone: timing.zone, every_ms: null, text }
    : { cron: null, timezone: null, every_ms: timing.everyMs, text };
}

async function nextRuns(timing: Timing, after: number): Promise<string[]> {
  return nextTimes(await fireTimes(timing), after, NEXT_RUNS).map((at) => toIso(at));
}
