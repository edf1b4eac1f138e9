import { JOB_DEFAULTS } from '../core/job-defaults.ts';
import { STORED_FIELDS, type StoredField } from '../core/stored-fields.ts';

/** The fields that have a column of their own with the same name. */
export const OWN_FIELDS = STORED_FIELDS.filter(
  (field) => field.in === undefined && field.column === undefined,
);
export const EDITABLE_FIELDS = OWN_FIELDS.filter((field) => field.edit !== undefined);
/** The fields that share the JSON object in the column `start`. Those that a job does not set are left out of it. */
export const START_FIELDS = STORED_FIELDS.filter((field) => field.column === 'start');

/** The columns of `job` that hold what a user sets, without those of unique keys. */
export const FIELD_COLUMNS = [...OWN_FIELDS.map((field) => field.name), 'hooks', 'policy', 'start'];

const PLAIN = OWN_FIELDS.filter((field) => field.plain && field.name !== 'queue');
/** The columns that are set for a plain job, which sets no rarely used field. `queue` is the first: it gets the number of the queue. */
export const PLAIN_COLUMNS = ['queue', ...PLAIN.map((field) => field.name)];
export const PLAIN_KEYS = PLAIN.map((field) => field.key);
/** The properties that have their defaults in a plain job. */
export const RARE_KEYS = [...OWN_FIELDS, ...START_FIELDS]
  .filter((field) => !field.plain)
  .map((field) => field.key)
  .concat('hooks', 'policy');
/** The defaults of RARE_KEYS, in the same order. */
export const RARE_DEFAULTS = RARE_KEYS.map((key) => JOB_DEFAULTS[key]);

/** The columns that hold JSON, and whether it is an array or an object. */
export const JSON_COLUMNS: Record<string, 'array' | 'object'> = {};
for (const field of OWN_FIELDS)
  if (isJson(field)) JSON_COLUMNS[field.name] = field.type!.type as 'array' | 'object';
for (const column of ['hooks', 'policy', 'start']) JSON_COLUMNS[column] = 'object';

export function isJson({ type }: Pick<StoredField, 'type'>): boolean {
  return type!.type === 'array' || type!.type === 'object';
}
