import type { JobInput } from '../core/job-input.ts';
import { readJobObject } from '../core/job-input.ts';

/** Reads a job from a request. Throws for an unknown field, because in a program that is a bug. */
export function readJob(value: unknown, now: number): JobInput {
  return readJobObject(value, now, true).input;
}
