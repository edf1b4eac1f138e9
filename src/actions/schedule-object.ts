import { timingText } from '../core/cron-text.ts';
import type { Schedule } from '../core/schedule.ts';
import { toIso } from '../core/time.ts';
import { fireTimes, nextTimes } from '../core/times.ts';
import type { ScheduleObject } from '../core/wire.ts';
import { readable } from './enqueue.ts';

const SHOWN = 5;

export async function toScheduleObject(schedule: Schedule, now: number): Promise<ScheduleObject> {
  const { timing, job } = schedule;
  return {
    name: schedule.name,
    cron: timing.kind === 'cron' ? timing.cron : null,
    timezone: timing.kind === 'cron' ? timing.zone : null,
    every_ms: timing.kind === 'every' ? timing.everyMs : null,
    text: timingText(timing),
    overlap: schedule.overlap,
    catch_up: schedule.catchUp,
    paused: schedule.pausedAt !== null,
    paused_at: toIso(schedule.pausedAt),
    paused_by: schedule.pausedBy,
    next_run_at: toIso(schedule.nextAt),
    next_runs: (await upcoming(schedule, now)).map((at) => toIso(at)),
    last_run_at: toIso(schedule.lastAt),
    last_job_id: schedule.lastJob,
    waiting: schedule.waiting,
    created_at: toIso(schedule.createdAt),
    command: job.command ?? readable(job.argv!),
    argv: job.argv ?? null,
    queue: job.queue ?? 'default',
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

/** From the tick that is due first, which may have passed when no worker is there. */
async function upcoming(schedule: Schedule, now: number): Promise<number[]> {
  if (schedule.nextAt === null) return [];
  return nextTimes(await fireTimes(schedule.timing), Math.max(now, schedule.nextAt - 1), SHOWN);
}
