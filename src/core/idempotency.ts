import { QueueError } from './errors.ts';
import type { JobInput } from './job-input.ts';

/** Names one enqueue for ever so long: said again, it adds nothing. */
export interface Idempotency {
  key: string;
  /** Tells what was enqueued from anything else. */
  body: string;
}

/** From its first use on, whatever becomes of the jobs. */
export const KEY_KEPT_MS = 24 * 3_600_000;

/** Throws unless the job has the key of the enqueue that it belongs to. */
export function checkSameKey({ idempotencyKey }: JobInput, key: string | undefined): void {
  if (idempotencyKey !== key)
    throw new QueueError('invalid-job', 'jobs enqueued together must have the same idempotency_key');
}

/**
 * What a user said about a job, the same text for the same meaning. What was filled in is no part of it, and a time that
 * counts from now is taken as it was said: the same command a minute later is the same.
 */
export function canonical(input: JobInput): string {
  const { idempotencyKey: _, runAt, ...said } = input;
  return JSON.stringify(said.delayMs === undefined ? { ...said, runAt } : said, sortKeys);
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
