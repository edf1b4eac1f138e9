import type { JobInput } from '../core/job-input.ts';
import { readJobObject } from '../core/job-input.ts';

/** In a program an unknown field is a bug: nothing is ignored. */
export function readJob(value: unknown, now: number): JobInput {
  return readJobObject(value, now, true).input;
}
