import { QueueError } from '../core/errors.ts';
import { type JobInput, readJobObject } from '../core/job-input.ts';

/** In a program an unknown field is a bug: nothing is ignored. */
export function readJob(value: unknown, now: number): JobInput {
  const { input, warnings } = readJobObject(value, now);
  if (warnings[0] !== undefined) throw new QueueError('invalid-job', warnings[0]);
  return input;
}
