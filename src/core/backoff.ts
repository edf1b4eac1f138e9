import type { Random } from './clock.ts';
import type { BackoffStrategy } from './job.ts';

export interface BackoffPolicy {
  strategy: BackoffStrategy;
  /** The base of `exponential`: the delay in seconds is this number to the power of the number of attempts. */
  base: number;
  /** The delay of `fixed`, and the increase per attempt of `linear`. */
  retryDelayMs: number;
  /** The longest delay. Null means MAX_DELAY_MS. */
  maxMs: number | null;
  /** Every delay is randomly shortened by up to this fraction, from 0 to 1. */
  jitter: number;
}

/** No delay is longer than ten years, so that the due time stays a valid time. */
const MAX_DELAY_MS = 10 * 365 * 86_400_000;

/** Returns the delay before the next attempt in milliseconds. `attempts` is the number of attempts so far. */
export function backoffMs(policy: BackoffPolicy, attempts: number, random: Random): number {
  const uncapped = uncappedMs(policy, attempts);
  const capped = Math.min(uncapped, policy.maxMs ?? MAX_DELAY_MS, MAX_DELAY_MS);
  return Math.round(capped * (1 - policy.jitter * random()));
}

function uncappedMs(policy: BackoffPolicy, attempts: number): number {
  switch (policy.strategy) {
    case 'exponential':
      return policy.base ** attempts * 1000;
    case 'linear':
      return policy.retryDelayMs * attempts;
    case 'fixed':
      return policy.retryDelayMs;
  }
}
