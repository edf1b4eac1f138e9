import type { NamedField } from './field.ts';
import type { JobSpec } from './job.ts';
import { JOB_FIELDS } from './job-fields.ts';
import { maybe, type Schema } from './schema.ts';

/** The rows of the table of job fields. */
export const FIELDS = Object.values<unknown>(JOB_FIELDS) as readonly NamedField[];

/** The rows whose values are stored and printed. The others are only accepted as input, such as `delay`, which sets `run_at`. */
export const KEPT_FIELDS = FIELDS.filter((field) => field.type !== undefined);

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
