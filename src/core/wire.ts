import { CATCH_UPS, OVERLAPS } from './schedule.ts';
import {
  each,
  flag,
  integer,
  listOf,
  maybe,
  number,
  oneOf,
  record,
  ref,
  strings,
  type TypeOf,
  text,
  time,
} from './schema.ts';

/* The HTTP API, the command line and the dashboard share these JSON objects. The dashboard imports only the types. */

export const PAUSED = { paused: flag, paused_at: maybe(time), paused_by: maybe(text) };

/** The timing of a schedule. `text` describes it in words. */
export const TIMING = { cron: maybe(text), timezone: maybe(text), every_ms: maybe(integer), text };

export const SCHEDULE = record({
  name: text,
  ...TIMING,
  overlap: oneOf(OVERLAPS),
  catch_up: oneOf(CATCH_UPS),
  ...PAUSED,
  next_run_at: maybe(time),
  /** The next runs, at most five. Empty while the schedule is paused. */
  next_runs: listOf(time),
  last_run_at: maybe(time),
  last_job_id: maybe(text),
  /** The number of ticks that wait for an earlier job to end. */
  waiting: integer,
  created_at: time,
  command: text,
  argv: maybe(listOf(text)),
  queue: text,
  job: record({
    name: text,
    priority: integer,
    max_retries: maybe(integer),
    timeout_ms: maybe(integer),
    backoff_base: maybe(number),
    cwd: maybe(text),
    env: strings,
    tags: strings,
  }),
});
export interface ScheduleObject extends TypeOf<typeof SCHEDULE> {}

export const WORKER = record({
  id: text,
  pid: integer,
  hostname: text,
  started_at: time,
  last_heartbeat: time,
  status: oneOf(['idle', 'busy', 'draining']),
  queues: listOf(text),
  current_jobs: listOf(text),
  /** The maximum number of jobs that the worker runs at a time. */
  concurrency: integer,
  /** Whether the worker runs the same executable as the process that answers. Null if that cannot be determined. */
  same_executable: maybe(flag),
});
export interface WorkerObject extends TypeOf<typeof WORKER> {}

export const OPERATION = record({
  id: text,
  action: text,
  state: oneOf(['running', 'done', 'stopped', 'failed']),
  ...each(['total', 'done', 'changed', 'unchanged'], integer),
  /** How many of the unchanged jobs are at-most-once jobs, which only a retry by id starts again. */
  skipped: integer,
  started_at: time,
  finished_at: maybe(time),
  error: maybe(text),
});
export interface OperationObject extends TypeOf<typeof OPERATION> {}

export const ERROR_GROUP = record({
  signature: text,
  ...each(['jobs', 'last_hour', 'last_3_hours', 'last_day', 'last_3_days', 'last_week'], integer),
  first_at: time,
  last_at: time,
  sample_id: text,
  sample_error: text,
  /** The most common names of the jobs in the group. `queues` has their most common queues. */
  names: listOf(text),
  queues: listOf(text),
});
export interface ErrorGroupObject extends TypeOf<typeof ERROR_GROUP> {}

/** `capped` is true if there are more dead jobs than were read. */
export const ERROR_GROUPS = record({
  groups: listOf(ref<ErrorGroupObject>('ErrorGroup')),
  looked_at: integer,
  capped: flag,
});
export interface ErrorGroups extends TypeOf<typeof ERROR_GROUPS> {}
