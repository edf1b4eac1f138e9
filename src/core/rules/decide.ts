import type { BackoffStrategy, ClaimedJob, JobPolicy } from '../jobs/job.ts';
import type { Settings } from '../settings/settings.ts';
import type { Random } from '../time/clock.ts';
import { exitCodeOf, type Outcome } from './outcome.ts';

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

/** The change that an outcome makes to its job. */
export type Transition = { attempts: number; crashes: number } & (
  | { to: 'completed' | 'dead' | 'cancelled' }
  | { to: 'failed'; nextRunAt: number }
  /** The job is pending again, and the attempt is not charged. A lost attempt still counts as a crash. */
  | { to: 'released' }
);

/** The rules from the settings. A job can have its own backoff instead. */
export interface Policy {
  backoff: BackoffPolicy;
  crashLimit: number;
}

type AttemptedJob = Pick<ClaimedJob, 'attempts' | 'crashes' | 'maxRetries' | 'backoffBase' | 'policy'>;

export function attemptsAllowed({ maxRetries, policy }: Pick<AttemptedJob, 'maxRetries' | 'policy'>): number {
  return policy.atMostOnce ? 1 : Math.max(1, maxRetries);
}

/** Returns the number of attempts charged to a job, plus one for the attempt that is running. */
export function attemptsUsed({ attempts, state }: Pick<ClaimedJob, 'attempts' | 'state'>): number {
  return state === 'processing' ? attempts + 1 : attempts;
}

/** Returns false for an at-most-once job whose attempt was charged. Only an import can have made such a job due. */
export function mayStart({ attempts, policy }: Pick<AttemptedJob, 'attempts' | 'policy'>): boolean {
  return !(policy.atMostOnce && attempts > 0);
}

/** Decides what happens to a job after an attempt. It does no I/O. */
export function decide(
  job: AttemptedJob,
  outcome: Outcome,
  policy: Policy,
  now: number,
  random: Random,
): Transition {
  const { crashes } = job;
  switch (outcome.why) {
    case 'cancelled':
      return { to: 'cancelled', attempts: job.attempts, crashes };
    case 'stopped':
      return { to: job.policy.atMostOnce ? 'dead' : 'released', attempts: job.attempts, crashes };
    case 'never-started':
      return { to: 'released', attempts: job.attempts, crashes };
    case 'lost': {
      const isGivenUp = job.policy.atMostOnce || crashes + 1 >= policy.crashLimit;
      const to = isGivenUp ? 'dead' : 'released';
      return { to, attempts: job.attempts, crashes: crashes + 1 };
    }
    case 'exited':
      if (outcome.code === 0) return { to: 'completed', attempts: job.attempts + 1, crashes };
  }
  // The attempt failed with a timeout, a spawn error or an exit code other than 0.
  const attempts = job.attempts + 1;
  if (attempts >= attemptsAllowed(job) || !isRetryable(job.policy, exitCodeOf(outcome)))
    return { to: 'dead', attempts, crashes };
  const delayMs = backoffMs(backoffOf(job, policy.backoff), attempts, random);
  return { to: 'failed', attempts, crashes, nextRunAt: now + delayMs };
}

/** Returns the backoff of a job: its own values, and `settings` for those that it does not set. */
export function backoffOf(
  { backoffBase, policy }: Pick<AttemptedJob, 'backoffBase' | 'policy'>,
  settings: BackoffPolicy,
): BackoffPolicy {
  return {
    strategy: policy.backoff ?? settings.strategy,
    base: backoffBase ?? settings.base,
    retryDelayMs: policy.retryDelayMs ?? settings.retryDelayMs,
    maxMs: policy.backoffMaxMs ?? settings.maxMs,
    jitter: policy.jitter ?? settings.jitter,
  };
}

/** Tells whether the exit code allows a retry. A command that could not be started has no exit code and is retried. */
function isRetryable({ retryOn, noRetryOn }: JobPolicy, code: number | null): boolean {
  if (code === null) return true;
  return !noRetryOn?.includes(code) && (retryOn === undefined || retryOn.includes(code));
}

export function policyFromSettings(settings: Settings): Policy {
  return {
    crashLimit: settings['crash-limit'],
    backoff: {
      strategy: settings['backoff-strategy'],
      base: settings['backoff-base'],
      retryDelayMs: settings['retry-delay'],
      maxMs: settings['backoff-max'],
      jitter: settings['backoff-jitter'],
    },
  };
}
