import { errorTable } from '../core/errors.ts';
import { EVENT_KINDS } from '../core/events.ts';
import { KEPT_FIELDS, printedSchema } from '../core/field-list.ts';
import { DEPENDENCY_CONDITIONS, STATES } from '../core/job.ts';
import { JOB_FACTS } from '../core/job-facts.ts';
import { printedFieldNames } from '../core/job-object.ts';
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
  text,
  time,
} from '../core/schema.ts';
import { WAITING_REASONS } from '../core/waiting-reason.ts';
import * as wire from '../core/wire.ts';
import { INPUTS } from './inputs.ts';

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
    code: oneOf(Object.keys(errorTable())),
    hint: maybe(text),
    request_id: text,
  }),
};
