import { FINAL_STATES, type Job, type State } from './job.ts';
import { isWaiting, WAITING_STATES } from './waiting-reason.ts';
import { joinWithOr } from './words.ts';

/** Returns why an action leaves a job unchanged, such as "are running", or null if it changes the job. */
export type JobRule = (job: Pick<Job, 'state' | 'held' | 'policy'>) => string | null;

export const RETRYABLE_STATES: readonly State[] = ['dead', 'cancelled', 'failed'];
export const DELETABLE_STATES: readonly State[] = ['pending', 'failed', 'completed', 'dead', 'cancelled'];

const unlessWaiting: JobRule = (job) => (isWaiting(job) ? null : notIn(WAITING_STATES));

const notIn = (states: readonly State[]): string => `are not ${joinWithOr(states)}`;

export const cancelRule: JobRule = ({ state }) =>
  FINAL_STATES.includes(state) ? 'had already finished' : null;

export const deleteRule: JobRule = ({ state }) => (state === 'processing' ? 'are running' : null);

export const holdRule: JobRule = (job) => unlessWaiting(job) ?? (job.held ? 'are already held' : null);

export const releaseRule: JobRule = ({ held }) => (held ? null : 'are not held');

/** Returns the rule for an edit that sets this number of attempts, if it sets one. */
export const editRule =
  (maxRetries = 1): JobRule =>
  (job) =>
    unlessWaiting(job) ??
    (job.policy.atMostOnce && maxRetries > 1 ? 'can have only one attempt (at-most-once)' : null);

/** Returns the rule for a retry of jobs in these states. */
export const retryRule =
  (states: readonly State[]): JobRule =>
  ({ state }) =>
    states.includes(state) ? null : notIn(states);

/** Joins different reasons, such as "are not pending or failed, or are already held". */
export function joinReasons(reasons: Iterable<string>): string {
  return [...new Set(reasons)].join(', or ');
}
