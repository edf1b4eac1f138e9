import { NO_RESULT_CODE } from '../errors.ts';
import type { BackoffStrategy, ClaimedJob, EndReason, Job, JobPolicy } from '../jobs/job.ts';
import type { Settings } from '../settings/settings.ts';
import { signalName } from '../signals.ts';
import { errorLine } from '../text/error-line.ts';
import { maskUrls } from '../text/mask.ts';
import { withoutControls } from '../text/printable.ts';
import type { Random } from '../time/clock.ts';
import { formatDuration } from '../time/duration.ts';

/** How an attempt ended. */
export type Outcome =
  /** The command ended by itself. If signal n killed it, the code is 128+n, as in a shell. */
  | { why: 'exited'; code: number }
  /** queuectl ended the command. `byGuard` tells that the guard did it, because the host could not renew its lease. */
  | { why: EndReason; byGuard?: true }
  /** The command could not be started, and an immediate retry would not help. */
  | { why: 'spawn-error'; message: string }
  /** The command was not started: its worker died first, another process took the gate, or no process could be created. */
  | { why: 'never-started' }
  /** The command may have been started. It is certain that it no longer runs, and it left no exit code. */
  | { why: 'lost' };

const TIMEOUT_CODE = 124;
const CANCELLED_CODE = 130;
const MAX_ERROR_LENGTH = 512;

/** Returns the exit code of an attempt, or null if it has none. A timeout has 124, like that of the program `timeout`. */
export function exitCodeOf(outcome: Outcome): number | null {
  if (outcome.why === 'exited') return outcome.code;
  return outcome.why === 'timeout' ? TIMEOUT_CODE : null;
}

/** Returns the exit code of a queuectl command that has waited for this job to end. */
export function exitCodeForJob(job: Pick<Job, 'state' | 'exitCode'>): number {
  if (job.state === 'completed') return 0;
  return job.state === 'cancelled' ? CANCELLED_CODE : job.exitCode || NO_RESULT_CODE;
}

/** Returns the signal that an exit code of 128+n stands for, or null. */
export function signalOf(exitCode: number | null): string | null {
  return exitCode === null || exitCode <= 128 ? null : signalName(exitCode - 128);
}

/** Returns one line for `last_error`: what happened, and the line of the output that tells why. Null if there is no error. */
export function describeOutcome(outcome: Outcome, timeoutMs: number | null, output: string): string | null {
  if (outcome.why === 'never-started' || (outcome.why === 'exited' && outcome.code === 0)) return null;
  // The output of a cancelled command does not explain why it was cancelled.
  const line = outcome.why === 'cancelled' ? '' : errorLine(output);
  const what = whatHappened(outcome, timeoutMs, line);
  const text = maskUrls(withoutControls(line === '' ? what : `${what}: ${line}`).trim());
  if (text.length <= MAX_ERROR_LENGTH) return text;
  // The cut may split a surrogate pair, whose first half is then removed.
  return `${text.slice(0, MAX_ERROR_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

type Failure = Exclude<Outcome, { why: 'never-started' }>;

function whatHappened(outcome: Failure, timeoutMs: number | null, line: string): string {
  switch (outcome.why) {
    case 'exited':
      return exitText(outcome.code, line);
    case 'timeout':
      return timeoutMs === null ? 'timed out' : `timed out after ${formatDuration(timeoutMs)}`;
    case 'spawn-error':
      return outcome.message;
    case 'cancelled':
      return 'cancelled while running';
    case 'stopped':
      return outcome.byGuard
        ? 'stopped because its host could not renew its lease'
        : 'stopped with its worker';
    case 'lost':
      return 'lost: the command was killed together with its worker, or its machine restarted or was cut off';
  }
}

/** A shell exits with 126 or 127 for other reasons, too. So the meaning is left out if the output gives another reason. */
function exitText(code: number, line: string): string {
  if (code === 126 && isReason(line, NOT_EXECUTABLE)) return 'exit code 126 (not executable)';
  if (code === 127 && isReason(line, NOT_FOUND)) return 'exit code 127 (command not found)';
  const signal = signalOf(code);
  return signal === null ? `exit code ${code}` : `killed by ${signal} (exit code ${code})`;
}

const NOT_FOUND = /not found|no such file|unknown command/i;
const NOT_EXECUTABLE = /permission denied|cannot execute|exec format|is a directory|not executable/i;
const isReason = (line: string, reason: RegExp): boolean => line === '' || reason.test(line);

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
