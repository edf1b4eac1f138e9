import type { EditOf } from './field.ts';
import { FIELDS } from './field-list.ts';
import type { JOB_FIELDS } from './job-fields.ts';
import { type JobInput, readJobObject } from './job-input.ts';
import { invalid } from './read-field.ts';

/** Changes to a waiting job. */
export interface JobChanges extends EditOf<typeof JOB_FIELDS> {}

const EDITABLE_KEYS = new Set(FIELDS.filter((field) => field.edit !== undefined).map((field) => field.key));

/** True if the field sets a property that can be edited. Several fields may set the same one, such as `delay` and `run_at`. */
export const isEditable = ({ key }: { key: string }): boolean => EDITABLE_KEYS.has(key);

/** Returns those fields of an input that can be edited. */
export function changesOf(input: JobInput): JobChanges {
  return Object.fromEntries(Object.entries(input).filter(([key]) => EDITABLE_KEYS.has(key)));
}

/** Reads changes that a program sends. Throws if one of the fields cannot be edited. */
export function readJobChanges(value: unknown, now: number): JobChanges {
  const { input } = readJobObject(value, now, true);
  // A delay is accepted, because `readJobObject` has also set `runAt` from it.
  const { delayMs: _, runAtFrom: __, ...fields } = input;
  const fixedKey = Object.keys(fields).find((key) => !EDITABLE_KEYS.has(key));
  if (fixedKey !== undefined) throw invalid(`the ${fixedKey} of a job cannot be changed`);
  const changes = changesOf(input);
  if (Object.keys(changes).length === 0) throw invalid('no changes given');
  return changes;
}
