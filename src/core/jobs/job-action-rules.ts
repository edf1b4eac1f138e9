import { joinWithOr } from '../text/words.ts';
import type { Job, State } from './job.ts';

/** The states of the jobs that each action changes. */
export const ACTION_STATES = {
  cancel: ['pending', 'processing', 'failed'],
  retry: ['dead', 'cancelled', 'failed'],
  hold: ['pending', 'failed'],
  release: ['pending', 'failed'],
  edit: ['pending', 'failed'],
  delete: ['pending', 'failed', 'completed', 'dead', 'cancelled'],
} as const satisfies Record<string, readonly State[]>;

/** The actions on jobs that the HTTP API offers for many jobs at once. */
export const BULK_ACTIONS = ['cancel', 'retry', 'hold', 'release', 'delete', 'edit'] as const;

/** Returns why an action leaves a job unchanged, such as "are running", or null if it changes the job. */
export type JobRule = (job: Pick<Job, 'state' | 'held' | 'policy'>) => string | null;

/** Returns the rule for jobs in these states. */
export const inStates =
  (states: readonly State[], why = `are not ${joinWithOr(states)}`): JobRule =>
  ({ state }) =>
    states.includes(state) ? null : why;

export const ACTION_RULES = {
  cancel: inStates(ACTION_STATES.cancel, 'had already finished'),
  hold: (job) => inStates(ACTION_STATES.hold)(job) ?? (job.held ? 'are already held' : null),
  release: ({ held }) => (held ? null : 'are not held'),
  delete: inStates(ACTION_STATES.delete, 'are running'),
} satisfies Record<string, JobRule>;

/** Returns the rule for an edit that sets this number of attempts, if it sets one. */
export const editRule =
  (maxRetries = 1): JobRule =>
  (job) =>
    inStates(ACTION_STATES.edit)(job) ??
    (job.policy.atMostOnce && maxRetries > 1 ? 'can have only one attempt (at-most-once)' : null);

/** Joins different reasons, such as "are not pending or failed, or are already held". */
export function joinReasons(reasons: Iterable<string>): string {
  return [...new Set(reasons)].join(', or ');
}
