import type { JobSpec } from './job.ts';
import type { JobInput } from './job-input.ts';
import { STORED_FIELDS } from './stored-fields.ts';

const defaults: Record<string, unknown> = {};
for (const { in: group, key, default: value = null } of STORED_FIELDS)
  if (group === undefined) defaults[key] = Object.freeze(value);
/** The values of a job that sets no field. All jobs share the frozen objects in it, so that a long file needs less memory. */
export const JOB_DEFAULTS: Readonly<Record<string, unknown>> = {
  ...defaults,
  hooks: Object.freeze({}),
  policy: Object.freeze({}),
  unique: null,
};

/** Completes a job with the defaults. A field without a default is null, and the caller sets it. */
export function withDefaults(input: JobInput): JobSpec {
  const spec: Record<string, unknown> = { ...JOB_DEFAULTS };
  for (const key in input) if (key in JOB_DEFAULTS) spec[key] = input[key as keyof JobInput];
  return spec as unknown as JobSpec;
}

type RequiredValues = Pick<JobSpec, 'id' | 'command' | 'maxRetries' | 'timeoutMs' | 'cwd'>;

/** Returns a job with the given values and the defaults of all other fields. */
export function newSpec(given: RequiredValues & Partial<JobSpec>): JobSpec {
  return { ...JOB_DEFAULTS, ...given } as JobSpec;
}
