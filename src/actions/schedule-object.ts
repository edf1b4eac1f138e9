import { timingText } from '../core/cron-text.ts';
import type { Schedule } from '../core/schedule.ts';
import { toIso } from '../core/time.ts';
import { fireTimes, nextTimes } from '../core/times.ts';
import { readable } from './enqueue.ts';

const SHOWN = 5;

export interface ScheduleObject {
  name: string;
  cron: string | null;
  timezone: string | null;
  every_ms: number | null;
  /** When, in words. */
  text: string;
  overlap: string;
  catch_up: string;
  paused: boolean;
  paused_at: string | null;
  paused_by: string | null;
  next_run_at: string | null;
  /** The next five, as of now; none while it is paused. */
  next_runs: string[];
  last_run_at: string | null;
  last_job_id: string | null;
  /** Ticks that wait for the job before them. */
  waiting: number;
  created_at: string;
  command: string;
  argv: string[] | null;
  queue: string;
  job: {
    name: string;
    priority: number;
    max_retries: number | null;
    timeout_ms: number | null;
    backoff_base: number | null;
    cwd: string | null;
    env: Record<string, string>;
    tags: Record<string, string>;
  };
}

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
