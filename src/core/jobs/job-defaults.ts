import { jobDefaultValues } from './field-list.ts' with { type: 'macro' };
import type { JobSpec } from './job.ts';
import type { JobInput } from './job-input.ts';

/** The values of a job that sets no field. All jobs share the frozen objects in it, so that a long file needs less memory. */
export const JOB_DEFAULTS: Readonly<Record<string, unknown>> = frozen(jobDefaultValues());

/** The bundler puts the result of the macro into the call above. As the value of the constant, it would be put into every use of the constant. */
function frozen(values: Record<string, unknown>): Record<string, unknown> {
  for (const key in values) Object.freeze(values[key]);
  return values;
}

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
