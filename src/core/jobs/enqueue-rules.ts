import { QueueError } from '../errors.ts';
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

/** Makes an enqueue idempotent: repeating it within KEY_KEPT_MS adds nothing. */
export interface Idempotency {
  key: string;
  /** A text, such as a hash, that is equal for equal requests. */
  body: string;
}

/** A key is kept for this long after its first use, whatever happens to the jobs. */
export const KEY_KEPT_MS = 24 * 3_600_000;

/** Throws unless the job has the key of the enqueue that it belongs to. */
export function checkSameKey({ idempotencyKey }: JobInput, key: string | undefined): void {
  if (idempotencyKey !== key)
    throw new QueueError('invalid-job', 'jobs enqueued together must have the same idempotency_key');
}

/** Returns a text that is equal for equal job inputs without defaults. It has the delay instead of its end, so that a later repeat is equal. */
export function canonicalText(input: JobInput): string {
  const { idempotencyKey: _, runAt, ...given } = input;
  return JSON.stringify(given.delayMs === undefined ? { ...given, runAt } : given, sortKeys);
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
