import { STATES } from '../jobs/job.ts';
import type { Outcome } from '../rules/decide.ts';
import { COUNT_NAMES, PERIODS, type Period } from '../rules/figures.ts';
import { CATCH_UPS, OVERLAPS } from '../schedules/schedule.ts';
import { SETTING_KEYS } from '../settings/settings.ts';
import {
  boolean,
  each,
  integer,
  listOf,
  maybe,
  number,
  oneOf,
  record,
  ref,
  type Schema,
  type TypeOf,
  text,
  textMap,
  time,
} from './schema.ts';

/* The HTTP API, the command line and the dashboard share these JSON objects. The dashboard imports only the types. */

const byState = record(each(STATES, integer));
const percentiles = maybe(record(each(['p50', 'p95', 'p99'], number)));
const PAUSED = { paused: boolean, paused_at: maybe(time), paused_by: maybe(text) };

const OUTCOMES = [
  ...(['exited', 'timeout', 'cancelled', 'stopped', 'spawn-error', 'never-started', 'lost'] as const),
] satisfies Outcome['why'][];

export const ATTEMPT = record({
  /** The number of the attempt, counted from 1 for each job. */
  attempt: integer,
  worker_id: text,
  started_at: time,
  /** Null while the attempt runs. */
  finished_at: maybe(time),
  duration_ms: maybe(integer),
  /** How the attempt ended. Null while it runs. */
  outcome: maybe(oneOf(OUTCOMES)),
  exit_code: maybe(integer),
  signal: maybe(text),
  error: maybe(text),
  output_bytes: integer,
  output_truncated: boolean,
  /** The host that has the output in a file, and the path of the file. Null if the output is on this host or in the database. */
  output_host: maybe(text),
  output_file: maybe(text),
  /** The pids of processes that a successful command left running. */
  left_behind: listOf(integer),
});
export interface AttemptObject extends TypeOf<typeof ATTEMPT> {}

/** The timing of a schedule. `text` describes it in words. */
const TIMING = { cron: maybe(text), timezone: maybe(text), every_ms: maybe(integer), text };

export const SCHEDULE = record({
  name: text,
  ...TIMING,
  overlap: oneOf(OVERLAPS),
  catch_up: oneOf(CATCH_UPS),
  ...PAUSED,
  next_run_at: maybe(time),
  /** The times of the next runs, at most five. Empty while the schedule is paused. */
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
    env: textMap,
    tags: textMap,
  }),
});
export interface ScheduleObject extends TypeOf<typeof SCHEDULE> {}

/** The next runs of a schedule that is only previewed. */
export const TIMES = record({ ...TIMING, next_runs: listOf(time) });
export interface TimesObject extends TypeOf<typeof TIMES> {}

export const QUEUE = record({
  name: text,
  ...PAUSED,
  concurrency: maybe(integer),
  rate: maybe(text),
  jobs: byState,
  /** The time since which the oldest runnable job of the queue has been waiting. Null if there is none. */
  oldest_waiting_at: maybe(time),
});
export interface QueueObject extends TypeOf<typeof QUEUE> {}

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
  same_executable: maybe(boolean),
});
export interface WorkerObject extends TypeOf<typeof WORKER> {}

export const OPERATION = record({
  id: text,
  action: text,
  state: oneOf(['running', 'done', 'stopped', 'failed']),
  ...each(['total', 'done', 'changed', 'unchanged'], integer),
  /** How many of the unchanged jobs are at-most-once jobs, which only a retry by id starts again. */
  skipped: integer,
  /** Further jobs that were cancelled because they depended on the changed ones, or will be when those have been stopped. */
  also_cancelled: integer,
  started_at: time,
  finished_at: maybe(time),
  error: maybe(text),
});
export interface OperationObject extends TypeOf<typeof OPERATION> {}

/** What a bulk action would do. `capped` is true if it would do more. */
export const OPERATION_PREVIEW = record({ ...each(['total', 'also_cancelled'], integer), capped: boolean });
export interface OperationPreview extends TypeOf<typeof OPERATION_PREVIEW> {}

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
  capped: boolean,
});
export interface ErrorGroups extends TypeOf<typeof ERROR_GROUPS> {}

export const STATS = record({
  jobs: byState,
  /** The share of completed jobs among the completed and dead ones. Null if there are none. */
  success_rate: maybe(number),
  sampled_attempts: integer,
  wait_ms: percentiles,
  run_ms: percentiles,
  /** The attempts that finished per minute, over the last five minutes or, if there were too many, a shorter time. */
  throughput_per_minute: number,
});
export interface Stats extends TypeOf<typeof STATS> {}

/** The figures of a period of time. The percentiles are by nearest rank, within 5%, and null if nothing was measured. */
const FIGURES = { ...each(COUNT_NAMES, integer), ...each(['wait_ms', 'run_ms'], percentiles) };
const figures = record(FIGURES);
export interface FiguresObject extends TypeOf<typeof figures> {}
const namedFigures = record({ queue: text, name: maybe(text), ...FIGURES });
export interface NamedFigures extends TypeOf<typeof namedFigures> {}

export const SERIES = record({
  range: oneOf(Object.keys(PERIODS) as Period[]),
  step_ms: integer,
  from: time,
  to: time,
  queue: maybe(text),
  name: maybe(text),
  /** The start of the first step that has data. Null if none has. */
  data_from: maybe(time),
  /** All steps of the range, also those without data, oldest first. The last one is not complete. */
  points: listOf(
    record({
      at: time,
      ...FIGURES,
      /** The longest wait of the oldest waiting job. Null if no job was seen waiting, or if `name` is set. */
      oldest_waiting_ms: maybe(integer),
    }),
  ),
  total: figures,
  /** The totals by queue and name, the busiest first. Null if they were not requested. */
  names: maybe(listOf(namedFigures)),
});
export interface SeriesObject extends TypeOf<typeof SERIES> {}

const settingValue: Schema<string | number | null> = { type: ['string', 'number', 'null'] };

export const SETTING = record({
  key: oneOf(SETTING_KEYS),
  value: settingValue,
  default: settingValue,
  /** The value as a user writes it, for `config set` and `config get`. */
  text,
  is_default: boolean,
  range: text,
  help: text,
});
export interface SettingObject extends TypeOf<typeof SETTING> {}
