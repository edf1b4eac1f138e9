import { RANGES } from '../actions/stats-series.ts';
import { ERRORS } from '../core/errors.ts';
import { EVENT_KINDS } from '../core/events.ts';
import { KEPT, printedSchema } from '../core/field-list.ts';
import { COUNTS } from '../core/figures.ts';
import { STATES } from '../core/job.ts';
import { JOB_FACTS } from '../core/job-facts.ts';
import { printedNames } from '../core/job-object.ts';
import { CATCH_UPS, OVERLAPS } from '../core/schedule.ts';
import {
  flag,
  integer,
  listOf,
  maybe,
  number,
  oneOf,
  record,
  ref,
  type Schema,
  strings,
  text,
  time,
} from '../core/schema.ts';
import { SETTING_KEYS } from '../core/settings.ts';
import { INPUTS } from './inputs.ts';

const byState = record(Object.fromEntries(STATES.map((state) => [state, integer])));
const percentiles = maybe(record({ p50: number, p95: number, p99: number }));
const outcome = oneOf(['exited', 'timeout', 'cancelled', 'stopped', 'spawn-error', 'never-started', 'lost']);
const detail: Schema = { type: ['string', 'number', 'boolean', 'null', 'array'], items: text };

const printed: Record<string, Schema> = {
  ...JOB_FACTS,
  ...Object.fromEntries(KEPT.map((field) => [field.name, printedSchema(field)])),
};
const job = record(Object.fromEntries(printedNames().map((name) => [name, printed[name]!])));

/** What a stretch of time is told by. */
const figures = {
  ...Object.fromEntries(COUNTS.map((name) => [name, integer])),
  ...{ wait_ms: percentiles, run_ms: percentiles },
};

export const SCHEMAS: Record<string, Schema> = {
  ...INPUTS,
  Job: {
    ...job,
    properties: {
      ...(job.properties as object),
      existing: {
        const: true,
        description: 'present only if nothing was added, because this job already existed',
      },
    },
  },
  JobPage: record({
    jobs: listOf(ref('Job')),
    next_cursor: maybe(text),
    count: record({ value: integer, capped: flag }),
  }),
  Attempt: record({
    ...{ attempt: integer, worker_id: text, started_at: time, finished_at: maybe(time) },
    ...{ duration_ms: maybe(integer), outcome: maybe(outcome) },
    ...{ exit_code: maybe(integer), signal: maybe(text), error: maybe(text) },
    ...{ output_bytes: integer, output_truncated: flag, left_behind: listOf(integer) },
  }),
  Explanation: record({ id: text, state: oneOf(STATES), reasons: listOf(text) }),
  RetryDelays: record({ delays_ms: listOf(integer), jitter: number }),
  Queue: record({
    ...{ name: text, paused: flag, paused_at: maybe(time), paused_by: maybe(text) },
    ...{ concurrency: maybe(integer), rate: maybe(text), priority_aging_ms: maybe(integer), jobs: byState },
    oldest_waiting_at: maybe(time),
  }),
  Schedule: record({
    ...{ name: text, cron: maybe(text), timezone: maybe(text), every_ms: maybe(integer), text },
    ...{ overlap: oneOf(OVERLAPS), catch_up: oneOf(CATCH_UPS) },
    ...{ paused: flag, paused_at: maybe(time), paused_by: maybe(text) },
    ...{ next_run_at: maybe(time), next_runs: listOf(time), last_run_at: maybe(time) },
    ...{ last_job_id: maybe(text), waiting: integer, created_at: time },
    ...{ command: text, argv: maybe(listOf(text)), queue: text },
    job: record({
      ...{ name: text, priority: integer, max_retries: maybe(integer), timeout_ms: maybe(integer) },
      ...{ backoff_base: maybe(number), cwd: maybe(text), env: strings, tags: strings },
    }),
  }),
  Times: record({
    ...{ cron: maybe(text), timezone: maybe(text), every_ms: maybe(integer), text },
    ...{ next_runs: listOf(time), clock_change: maybe(record({ at: time, says: text })) },
  }),
  Worker: record({
    ...{ id: text, pid: integer, hostname: text, started_at: time, last_heartbeat: time },
    ...{
      status: oneOf(['idle', 'busy', 'draining']),
      queues: listOf(text),
      current_jobs: listOf(text),
    },
    ...{ concurrency: integer, same_executable: maybe(flag) },
  }),
  Stats: record({
    ...{ jobs: byState, success_rate: maybe(number), sampled_attempts: integer },
    ...{ wait_ms: percentiles, run_ms: percentiles, throughput_per_minute: number },
  }),
  Series: record({
    ...{ range: oneOf(Object.keys(RANGES)), step_ms: integer, from: time, to: time },
    ...{ queue: maybe(text), name: maybe(text), data_from: maybe(time) },
    points: listOf(record({ at: time, ...figures, oldest_waiting_ms: maybe(integer) })),
    ...{
      total: record(figures),
      names: maybe(listOf(record({ queue: text, name: maybe(text), ...figures }))),
    },
  }),
  Doctor: record({
    ...{ version: text, ok: flag },
    checks: listOf(
      record({ check: text, status: oneOf(['ok', 'warn', 'fail']), says: text, fix: maybe(text) }),
    ),
  }),
  Setting: record({
    ...{ key: oneOf(SETTING_KEYS), value: { type: ['string', 'number', 'null'] } },
    ...{ default: { type: ['string', 'number', 'null'] }, text, is_default: flag, range: text, help: text },
  }),
  Operation: record({
    ...{ id: text, action: text, state: oneOf(['running', 'done', 'stopped', 'failed']) },
    ...{ total: integer, done: integer, changed: integer, unchanged: integer, skipped: integer },
    ...{ started_at: time, finished_at: maybe(time), error: maybe(text) },
  }),
  /** What belongs to its kind stands beside these. */
  Event: {
    ...record({
      ...{ number: integer, at: time, kind: oneOf(EVENT_KINDS), actor: maybe(text), job_id: maybe(text) },
      ...{ queue: maybe(text), attempt: maybe(integer) },
    }),
    additionalProperties: detail,
  },
  Activity: record({ events: listOf(ref('Event')), next_before: maybe(integer) }),
  Health: record({ status: text }),
  ErrorGroup: record({
    ...{ signature: text, jobs: integer, last_hour: integer, last_3_hours: integer, last_day: integer },
    ...{ last_3_days: integer, last_week: integer },
    ...{ first_at: time, last_at: time, sample_id: text, sample_error: text },
    ...{ names: listOf(text), queues: listOf(text) },
  }),
  Problem: record({
    ...{ type: text, title: text, status: integer, detail: text, code: oneOf(Object.keys(ERRORS)) },
    ...{ hint: maybe(text), request_id: text },
  }),
};
