import { BACKOFF_STRATEGIES, PARENT_FAILURES, PRIORITIES, WANTED_ENDS } from '../core/job.ts';
import { CATCH_UPS, OVERLAPS } from '../core/schedule.ts';
import { STOP_ORDERS } from '../core/stop-order.ts';
import { FILTER_QUERIES, REPEATED } from './filter.ts';
import { ACTION_NAMES } from './job-actions.ts';
import type { Schema } from './route.ts';
import { flag, input, integer, listOf, maybe, number, oneOf, record, ref, strings, text } from './schema.ts';

/** A number of seconds, or text with a unit. */
const duration: Schema = { type: ['number', 'string'], examples: [90, '5m'] };
const when: Schema = { type: ['number', 'string'], examples: ['2030-01-31T09:00:00Z', '+10m'] };
const codes: Schema = { anyOf: [text, integer, listOf(integer)], examples: [[1, 75], '1,64-78'] };
const after: Schema = { anyOf: [text, record({ id: text, on: oneOf(WANTED_ENDS) })] };
const several: Schema = { anyOf: [text, { ...listOf(text), minItems: 1 }] };

const changeable: Record<string, Schema> = {
  ...{ command: text, queue: text, priority: { anyOf: [integer, oneOf([...PRIORITIES.keys()])] } },
  ...{ run_at: when, delay: duration, timeout: duration, timeout_ms: { type: ['number', 'string'] } },
  ...{ max_retries: integer, tags: strings, name: text },
};

/** The fields of a new job. Null means the same as an absent field. */
export const NEW_JOB: Record<string, Schema> = {
  ...{ id: text, argv: listOf(text), ...changeable },
  ...{ cwd: text, env: strings, secret_env: listOf(text), clean_env: flag, stdin: text, split_output: flag },
  ...{ depends_on: { anyOf: [after, listOf(after)] }, on_parent_failure: oneOf(PARENT_FAILURES) },
  ...{ unique_key: text, unique_for: duration, unique_while: oneOf(['pending', 'active']) },
  ...{ idempotency_key: text, retry_on: codes, no_retry_on: codes, at_most_once: flag },
  ...{ backoff: oneOf(BACKOFF_STRATEGIES), backoff_base: number, retry_delay: duration },
  ...{ backoff_max: duration, jitter: number, on_complete: text, on_failure: text, on_dead: text },
};

const nullable = (fields: Record<string, Schema>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, maybe(schema)]));

const timing: Record<string, Schema> = {
  ...{ cron: maybe(text), timezone: maybe(text), every: maybe(duration) },
  ...{ overlap: maybe(oneOf(OVERLAPS)), catch_up: maybe(oneOf(CATCH_UPS)) },
};

export const INPUTS: Record<string, Schema> = {
  NewJob: {
    type: 'object',
    description:
      'Needs command or argv; all other fields are optional. A job returned by the API can be sent back unchanged.',
    properties: nullable(NEW_JOB),
    anyOf: [{ required: ['command'] }, { required: ['argv'] }],
  },
  JobChanges: { type: 'object', minProperties: 1, properties: nullable(changeable) },
  NewSchedule: input({ name: text, ...timing, job: ref('NewJob') }, ['name', 'job']),
  ScheduleChanges: {
    ...input({ paused: flag, ...timing, job: { type: 'object', properties: nullable(NEW_JOB) } }),
    minProperties: 1,
  },
  QueueChanges: {
    ...input({
      ...{ paused: flag, concurrency: maybe({ type: 'integer', minimum: 1 }) },
      ...{ rate: maybe({ type: 'string', examples: ['10/s'] }), priority_aging: maybe(duration) },
    }),
    minProperties: 1,
  },
  StopWorker: input({ order: oneOf(STOP_ORDERS) }, ['order']),
  NewValue: input({ value: text }, ['value']),
  Filter: {
    ...input({
      ...Object.fromEntries(Object.keys(FILTER_QUERIES).map((name) => [name, text])),
      ...Object.fromEntries(REPEATED.map((name) => [name, several])),
      'exit-code': { anyOf: [text, integer] },
    }),
    minProperties: 1,
  },
  NewOperation: {
    ...input(
      {
        action: oneOf(ACTION_NAMES),
        ...{ ids: listOf(text), filter: ref('Filter'), group: text, changes: ref('JobChanges') },
        ...{ limit: { type: 'integer', minimum: 1 }, per_second: { type: 'integer', minimum: 1 } },
      },
      ['action'],
    ),
    oneOf: [{ required: ['ids'] }, { required: ['filter'] }, { required: ['group'] }],
  },
};
