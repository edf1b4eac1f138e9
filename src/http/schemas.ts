import { RANGES } from '../actions/stats-series.ts';
import { ERRORS } from '../core/errors.ts';
import { EVENT_KINDS } from '../core/events.ts';
import { KEPT, printedSchema } from '../core/field-list.ts';
import { COUNTS } from '../core/figures.ts';
import { STATES } from '../core/job.ts';
import { JOB_FACTS } from '../core/job-facts.ts';
import { printedNames } from '../core/job-object.ts';
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
  type Schema,
  text,
  time,
} from '../core/schema.ts';
import { SETTING_KEYS } from '../core/settings.ts';
import { ERROR_GROUP, OPERATION, PAUSED, SCHEDULE, TIMING, WORKER } from '../core/wire.ts';
import { INPUTS } from './inputs.ts';

const byState = record(each(STATES, integer));
const percentiles = maybe(record({ p50: number, p95: number, p99: number }));
const outcome = oneOf(['exited', 'timeout', 'cancelled', 'stopped', 'spawn-error', 'never-started', 'lost']);
const detail: Schema = { type: ['string', 'number', 'boolean', 'null', 'array'], items: text };
const settingValue: Schema = { type: ['string', 'number', 'null'] };

const printed: Record<string, Schema> = {
  ...JOB_FACTS,
  ...Object.fromEntries(KEPT.map((field) => [field.name, printedSchema(field)])),
};
const job = record(Object.fromEntries(printedNames().map((name) => [name, printed[name]!])));

/** The figures of a period of time. */
const figures = { ...each(COUNTS, integer), ...each(['wait_ms', 'run_ms'], percentiles) };

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
    attempt: integer,
    worker_id: text,
    started_at: time,
    finished_at: maybe(time),
    duration_ms: maybe(integer),
    outcome: maybe(outcome),
    exit_code: maybe(integer),
    signal: maybe(text),
    error: maybe(text),
    output_bytes: integer,
    output_truncated: flag,
    left_behind: listOf(integer),
  }),
  Explanation: record({ id: text, state: oneOf(STATES), reasons: listOf(text) }),
  RetryDelays: record({ delays_ms: listOf(integer), jitter: number }),
  Queue: record({
    name: text,
    ...PAUSED,
    concurrency: maybe(integer),
    rate: maybe(text),
    priority_aging_ms: maybe(integer),
    jobs: byState,
    oldest_waiting_at: maybe(time),
  }),
  Schedule: SCHEDULE,
  Times: record({
    ...TIMING,
    next_runs: listOf(time),
    clock_change: maybe(record({ at: time, says: text })),
  }),
  Worker: WORKER,
  Stats: record({
    jobs: byState,
    success_rate: maybe(number),
    sampled_attempts: integer,
    wait_ms: percentiles,
    run_ms: percentiles,
    throughput_per_minute: number,
  }),
  Series: record({
    range: oneOf(Object.keys(RANGES)),
    step_ms: integer,
    from: time,
    to: time,
    queue: maybe(text),
    name: maybe(text),
    points: listOf(record({ at: time, ...figures })),
    total: record(figures),
    names: maybe(listOf(record({ queue: text, name: maybe(text), ...figures }))),
  }),
  Doctor: record({
    version: text,
    ok: flag,
    checks: listOf(
      record({ check: text, status: oneOf(['ok', 'warn', 'fail']), says: text, fix: maybe(text) }),
    ),
  }),
  Setting: record({
    key: oneOf(SETTING_KEYS),
    value: settingValue,
    default: settingValue,
    text,
    is_default: flag,
    range: text,
    help: text,
  }),
  Operation: OPERATION,
  /** The details of each kind of event are further properties. */
  Event: {
    ...record({
      number: integer,
      at: time,
      kind: oneOf(EVENT_KINDS),
      actor: maybe(text),
      job_id: maybe(text),
      queue: maybe(text),
      attempt: maybe(integer),
    }),
    additionalProperties: detail,
  },
  Activity: record({ events: listOf(ref('Event')), next_before: maybe(integer) }),
  Health: record({ status: text }),
  ErrorGroup: ERROR_GROUP,
  Problem: record({
    type: text,
    title: text,
    status: integer,
    detail: text,
    code: oneOf(Object.keys(ERRORS)),
    hint: maybe(text),
    request_id: text,
  }),
};
