import type { Random } from './clock.ts';
import type { BackoffStrategy } from './job.ts';

export interface BackoffPolicy {
  strategy: BackoffStrategy;
  /** The base of `exponential`: the delay in seconds is this number to the power of the attempts. */
  base: number;
  /** The delay of `fixed` and the step of `linear`. */
  retryDelayMs: number;
  /** The longest delay. Null means no limit. */
  maxMs: number | null;
  /** The random share of the delay, from 0 to 1. */
  jitter: number;
}

/** Limits every delay to ten years, so that the due time stays a valid time. */
const LONGEST_MS = 10 * 365 * 86_400_000;

/** Returns the delay after the `attempts`-th failure. */
export function backoffMs(policy: BackoffPolicy, attempts: number, random: Random): number {
  const plain = plainDelay(policy, attempts);
  const capped = Math.min(plain, policy.maxMs ?? LONGEST_MS, LONGEST_MS);
  return Math.round(capped * (1 - policy.jitter * random()));
}

function plainDelay(policy: BackoffPolicy, attempts: number): number {
  switch (policy.strategy) {
    case 'exponential':
      return policy.base ** attempts * 1000;
    case 'linear':
      return policy.retryDelayMs * attempts;
    case 'fixed':
      return policy.retryDelayMs;
  }
}
