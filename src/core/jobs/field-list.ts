import { integer, maybe, oneOf, type Schema, text, time } from '../wire/schema.ts';
import type { NamedField } from './field.ts';
import { type JobSpec, STATES } from './job.ts';
import { JOB_FIELDS } from './job-fields.ts';
import { WAITING_REASONS } from './waiting-reason.ts';

/** The fields of a printed job that queuectl sets, and their schemas. */
export const JOB_FACTS = {
  state: oneOf(STATES),
  attempts: integer,
  created_at: time,
  updated_at: time,
  next_run_at: maybe(time),
  stdin_bytes: integer,
  worker_id: maybe(text),
  /** The process group of the running attempt. Null if none runs on this machine. */
  pid: maybe(integer),
  started_at: maybe(time),
  finished_at: maybe(time),
  exit_code: maybe(integer),
  signal: maybe(text),
  last_error: maybe(text),
  crashes: integer,
  duration_ms: maybe(integer),
  waiting_for: maybe(oneOf(WAITING_REASONS)),
};

/** The rows of the table of job fields. */
export const FIELDS = Object.values<unknown>(JOB_FIELDS) as readonly NamedField[];

/** The rows whose values are stored and printed. The others are only accepted as input, such as `delay`, which sets `run_at`. */
export const KEPT_FIELDS = FIELDS.filter((field) => field.type !== undefined);

/** Returns the value of JOB_DEFAULTS. */
export function jobDefaultValues(): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { in: group, key, default: value = null } of KEPT_FIELDS)
    if (group === undefined) values[key] = value;
  return { ...values, hooks: {}, policy: {}, unique: null };
}

/** Returns the value of a field, or undefined if its group does not have it. */
export function fieldValue(job: JobSpec, { in: group, key }: NamedField): unknown {
  const holder = group === undefined ? job : job[group];
  return (holder as unknown as Record<string, unknown> | null)?.[key];
}

/** Returns the schema of a field in a printed job. It allows null if the field is printed as null when it is not set. */
export function printedSchema({ type, in: group, default: value }: NamedField): Schema {
  const optional = value === null || (group !== undefined && type!.type !== 'boolean');
  return optional ? maybe(type!) : type!;
}

/** Returns a function that compares names by their position in `order`. Names that are not listed come last. */
export function compareByOrder(order: readonly string[]): (a: string, b: string) => number {
  const positions = new Map(order.map((name, i) => [name, i]));
  const positionOf = (name: string): number => positions.get(name) ?? order.length;
  return (a, b) => positionOf(a) - positionOf(b);
}

/** Returns the fields that have a column of their own with the same name. */
export const ownFields = (): NamedField[] =>
  KEPT_FIELDS.filter((field) => field.in === undefined && field.column === undefined);

export const editableFields = (): NamedField[] => ownFields().filter((field) => field.edit !== undefined);

export function isJson({ type }: Pick<NamedField, 'type'>): boolean {
  return type!.type === 'array' || type!.type === 'object';
}
