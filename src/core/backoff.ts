import type { Random } from './clock.ts';
import type { BackoffStrategy } from './job.ts';

export interface BackoffPolicy {
  strategy: BackoffStrategy;
  /** Seconds, raised to the number of attempts. */
  base: number;
  /** The delay of `fixed` and the step of `linear`. */
  retryDelayMs: number;
  /** No delay is longer; null means none. */
  maxMs: number | null;
  /** 0 to 1: the part of the delay that is left to chance. */
  jitter: number;
}

/** Far enough to mean "practically never", near enough for every clock and timer arithmetic. */
const LONGEST_MS = 10 * 365 * 86_400_000;

/** How long to wait after the `attempts`-th failure. */
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
