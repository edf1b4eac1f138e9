import { ERRORS } from '../core/errors.ts';
import type { NamedField } from '../core/jobs/field.ts';
import { FIELDS, JOB_FACTS, KEPT_FIELDS, printedSchema } from '../core/jobs/field-list.ts';
import { FILTER_FIELDS } from '../core/jobs/filter.ts';
import { DEPENDENCY_CONDITIONS, STATES } from '../core/jobs/job.ts';
import { BULK_ACTIONS } from '../core/jobs/job-action-rules.ts';
import { isEditable } from '../core/jobs/job-changes.ts';
import { printedFieldNames } from '../core/jobs/job-object.ts';
import { WAITING_REASONS } from '../core/jobs/waiting-reason.ts';
import { EVENT_KINDS } from '../core/rules/events.ts';
import { CATCH_UPS, OVERLAPS } from '../core/schedules/schedule.ts';
import { STOP_ORDERS } from '../core/signals.ts';
import {
  anyOf,
  boolean,
  duration,
  each,
  input,
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
} from '../core/wire/schema.ts';
import * as wire from '../core/wire/wire.ts';

const positive: Schema<number> = { type: 'integer', minimum: 1 };
const textOrList = anyOf(text, { ...listOf(text), minItems: 1 });

const inputsOf = (fields: readonly NamedField[]): Record<string, Schema> =>
  Object.fromEntries(
    fields.flatMap(({ name, type, accepts = type }) => (accepts === undefined ? [] : [[name, accepts]])),
  );

/** The schemas of the fields that a new job may have. */
export const NEW_JOB_FIELDS = inputsOf(FIELDS);

/** Also allows null for each field, which means the same as an absent field. */
const nullable = (fields: Record<string, Schema>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, maybe(schema)]));

const scheduleFields: Record<string, Schema> = {
  cron: maybe(text),
  timezone: maybe(text),
  every: maybe(duration),
  overlap: maybe(oneOf(OVERLAPS)),
  catch_up: maybe(oneOf(CATCH_UPS)),
};

/** The parameter `waiting_for` is spelled like the field of a job, not like the flag `--waiting-for`. */
export const filterName = (field: string): string => (field === 'waiting-for' ? 'waiting_for' : field);

/** The query parameters of a job filter. A filter in a JSON body has the same names. */
export const FILTER_QUERIES: Record<string, string> = Object.fromEntries(
  Object.entries(FILTER_FIELDS).map(([field, { help, values }]) => [
    filterName(field),
    `only ${help}${values === undefined ? '' : '; separated by commas or repeated'}`,
  ]),
);

/** The parameters that can be given more than once. */
export const REPEATABLE: readonly string[] = Object.keys(FILTER_FIELDS)
  .filter((field) => FILTER_FIELDS[field]!.all !== undefined)
  .map(filterName);

/** The schemas of what clients send. */
export const INPUTS = {
  NewJob: {
    type: 'object',
    description:
      'Needs command or argv; all other fields are optional. A job returned by the API can be sent back unchanged.',
    properties: nullable(NEW_JOB_FIELDS),
    anyOf: [{ required: ['command'] }, { required: ['argv'] }],
  },
  JobChanges: { type: 'object', minProperties: 1, properties: nullable(inputsOf(FIELDS.filter(isEditable))) },
  NewSchedule: input({ name: text, ...scheduleFields, job: ref('NewJob') }, ['name', 'job']),
  ScheduleChanges: {
    ...input({
      paused: boolean,
      ...scheduleFields,
      job: { type: 'object', properties: nullable(NEW_JOB_FIELDS) },
    }),
    minProperties: 1,
  },
  QueueChanges: {
    ...input({
      paused: boolean,
      concurrency: maybe(positive),
      rate: maybe({ type: 'string', examples: ['10/s'] }),
    }),
    minProperties: 1,
  },
  StopWorker: input({ order: oneOf(STOP_ORDERS) }, ['order']),
  SettingValue: input({ value: text }, ['value']),
  Filter: {
    ...input({
      ...each(Object.keys(FILTER_QUERIES), text),
      ...each(REPEATABLE, textOrList),
      'exit-code': { anyOf: [text, integer] },
    }),
    minProperties: 1,
  },
  NewOperation: {
    ...input(
      {
        action: oneOf(BULK_ACTIONS),
        ids: listOf(text),
        filter: ref('Filter'),
        group: text,
        changes: ref('JobChanges'),
        limit: positive,
        per_second: positive,
        dry_run: boolean,
      },
      ['action'],
    ),
    oneOf: [{ required: ['ids'] }, { required: ['filter'] }, { required: ['group'] }],
  },
} satisfies Record<string, Schema>;

const byReason = record(each(WAITING_REASONS, integer));
const detail: Schema = { type: ['string', 'number', 'boolean', 'null', 'array'], items: text };

const printed: Record<string, Schema> = {
  ...JOB_FACTS,
  ...Object.fromEntries(KEPT_FIELDS.map((field) => [field.name, printedSchema(field)])),
};
const job = record(Object.fromEntries(printedFieldNames().map((name) => [name, printed[name]!])));

const alsoCancelled: Schema = {
  ...listOf(text),
  description:
    'the ids of the other jobs that were cancelled, because they depended on this one, or will be when it has been stopped',
};

export const SCHEMAS: Record<string, Schema> = {
  ...INPUTS,
  CancelledJob: record({ ...(job.properties as Record<string, Schema>), also_cancelled: alsoCancelled }),
  DeletedJob: record({ id: text, also_cancelled: alsoCancelled }),
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
    count: record({ value: integer, capped: boolean }),
  }),
  Attempt: wire.ATTEMPT,
  Explanation: record({
    id: text,
    state: oneOf(STATES),
    waiting_for: maybe(oneOf(WAITING_REASONS)),
    reasons: listOf(text),
  }),
  Children: record({
    children: listOf(
      record({ id: text, on: oneOf(DEPENDENCY_CONDITIONS), state: oneOf(STATES), waiting: boolean }),
    ),
    ...each(['total', 'cancelled_with_it', 'cancelled_if_deleted'], integer),
  }),
  RetryDelays: record({ delays_ms: listOf(integer), jitter: number }),
  Queue: wire.QUEUE,
  WaitingCount: record({ queue: text, jobs: byReason }),
  Schedule: wire.SCHEDULE,
  Times: wire.TIMES,
  Worker: wire.WORKER,
  Stats: wire.STATS,
  Series: wire.SERIES,
  Doctor: record({
    version: text,
    ok: boolean,
    checks: listOf(
      record({ check: text, status: oneOf(['ok', 'warn', 'fail']), says: text, fix: maybe(text) }),
    ),
  }),
  Setting: wire.SETTING,
  Operation: wire.OPERATION,
  OperationPreview: wire.OPERATION_PREVIEW,
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
  ErrorGroup: wire.ERROR_GROUP,
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
