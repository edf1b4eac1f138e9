import { QueueError } from './errors.ts';
import type { JobInput } from './job-input.ts';

/** Throws if an at-most-once job is given more than one attempt. */
export function checkAtMostOnce({ policy, maxRetries = 1 }: Pick<JobInput, 'policy' | 'maxRetries'>): void {
  if (policy?.atMostOnce && maxRetries > 1)
    throw new QueueError(
      'invalid-job',
      `max_retries is ${maxRetries}, but an at-most-once job has only one attempt`,
      'omit one of the two',
    );
}
