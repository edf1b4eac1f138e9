import type { NamedField } from '../../core/field.ts';
import { JOB_DEFAULTS, KEPT } from '../../core/field-list.ts';

/** The fields with a column of their own, which has the name of the field. */
export const OWN = KEPT.filter((field) => field.in === undefined && field.column === undefined);
/** The fields that can be edited. */
export const EDITED = OWN.filter((field) => field.edit !== undefined);
/** The fields that share the JSON object in the column `start`. Those that a job does not set are left out of it. */
export const STARTS = KEPT.filter((field) => field.column === 'start');

/** The columns of `job` that hold what a user decides, without those of unique keys. */
export const FIELD_COLUMNS = [...OWN.map((field) => field.name), 'hooks', 'policy', 'start'];

const PLAIN = OWN.filter((field) => field.plain);
/** The columns of a plain job. `queue` is the first, because its value is a number here. */
export const PLAIN_COLUMNS = [
  'queue',
  ...PLAIN.map((field) => field.name).filter((name) => name !== 'queue'),
];
export const PLAIN_KEYS = PLAIN.map((field) => field.key).filter((key) => key !== 'queue');
/** The properties that have their default in a plain job, and those defaults. */
export const RARE_KEYS = [...OWN, ...STARTS]
  .filter((field) => !field.plain)
  .map((field) => field.key)
  .concat('hooks', 'policy');
export const RARE_DEFAULTS = RARE_KEYS.map((key) => JOB_DEFAULTS[key]);

/** The columns that hold JSON, and of which kind. */
export const JSON_COLUMNS: Record<string, 'array' | 'object'> = Object.fromEntries([
  ...OWN.flatMap((field) => (isJson(field) ? [[field.name, field.type!.type]] : [])),
  ...['hooks', 'policy', 'start'].map((column) => [column, 'object']),
]);

export function isJson({ type }: NamedField): boolean {
  return type!.type === 'array' || type!.type === 'object';
}
