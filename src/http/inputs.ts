import type { NamedField } from '../core/field.ts';
import { FIELDS } from '../core/field-list.ts';
import { isEditable } from '../core/job-changes.ts';
import { CATCH_UPS, OVERLAPS } from '../core/schedule.ts';
import {
  anyOf,
  boolean,
  duration,
  each,
  input,
  integer,
  listOf,
  maybe,
  oneOf,
  ref,
  type Schema,
  text,
} from '../core/schema.ts';
import { STOP_ORDERS } from '../core/stop-order.ts';
import { FILTER_QUERIES, REPEATABLE } from './filter.ts';
import { ACTION_NAMES } from './job-actions.ts';

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

export const INPUTS: Record<string, Schema> = {
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
      priority_aging: maybe(duration),
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
        action: oneOf(ACTION_NAMES),
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
};
