import { KEPT_FIELDS } from './field-list.ts';

/** Returns the value of JOB_DEFAULTS. */
export function jobDefaultValues(): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { in: group, key, default: value = null } of KEPT_FIELDS)
    if (group === undefined) values[key] = value;
  return { ...values, hooks: {}, policy: {}, unique: null };
}
