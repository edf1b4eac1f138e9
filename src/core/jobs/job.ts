import type { GroupOf, SpecOf } from './field.ts';
import type { JOB_FIELDS } from './job-fields.ts';

export const STATES = ['pending', 'processing', 'completed', 'failed', 'dead', 'cancelled'] as const;
export type State = (typeof STATES)[number];

export const FINAL_STATES: readonly State[] = ['completed', 'dead', 'cancelled'];

export const BACKOFF_STRATEGIES = ['exponential', 'linear', 'fixed'] as const;
export type BackoffStrategy = (typeof BACKOFF_STRATEGIES)[number];

/** The properties of a job that a user decides. The table in job-fields.ts describes each of them. */
export interface JobSpec extends SpecOf<typeof JOB_FIELDS> {
  hooks: JobHooks;
  policy: JobPolicy;
  unique: Uniqueness | null;
  /** Adds the job on hold. A stored job has `held` instead. */
  hold?: boolean;
}

/** An output stream of a command. Unless the output is split, stdout holds both. */
export type Stream = 'stdout' | 'stderr';

/** The hooks of a job, which replace those in the settings. `none` runs no command. */
export interface JobHooks extends GroupOf<typeof JOB_FIELDS, 'hooks'> {
  /** Only queuectl sets this, to `none` for jobs that a hook enqueues. */
  idle?: string;
}

/** Reserves a key. No other job with that key is added while this job is pending, while it is active, or for `forMs`. */
export interface Uniqueness {
  key: string;
  /** A job is active until it has finished. */
  while: 'pending' | 'active';
  /** Reserves the key for this long after the enqueue, whatever happens to the job. Then `while` is ignored. */
  forMs: number | null;
}

/** The end that a dependency requires of its parent job: completed (`ok`), any end, or dead or cancelled (`notok`). */
export const DEPENDENCY_CONDITIONS = ['ok', 'any', 'notok'] as const;
export interface Dependency {
  id: string;
  on: (typeof DEPENDENCY_CONDITIONS)[number];
}

/** The choices for a job whose parent job did not end as required. */
export const PARENT_FAILURES = ['cancel', 'hold', 'run'] as const;

/** The properties of a job that replace the settings for retries, and a few others that most jobs do not set. */
export interface JobPolicy extends GroupOf<typeof JOB_FIELDS, 'policy'> {}

/** A job that an earlier enqueue with the same idempotency key added, but that was removed since. Only its id is known. */
export interface GoneJob {
  id: string;
  existing: true;
  gone: true;
}

/** A job as the store keeps it. Times and durations are in milliseconds. `toJobObject` formats it for users. */
export interface Job extends JobSpec {
  /** True if an enqueue returned this earlier job instead of adding a new one. */
  existing?: true;
  /** The size of the stdin. Lists and claims do not read the stdin itself, so `stdin` may be null although this is not 0. */
  stdinBytes: number;
  state: State;
  /** The number of attempts that were charged to the job. Attempts that were lost, stopped, cancelled or never started are not. */
  attempts: number;
  /** The number of attempts that were lost. */
  crashes: number;
  createdAt: number;
  updatedAt: number;
  /** True if the job was put on hold, so that it does not run until it is released. */
  held: boolean;
  /** True if the job waits for another job to end. */
  blocked: boolean;
  /** True if the job waits for its due time. A job that is ready stays so, even if the clock is set back. */
  delayed: boolean;
  /** The earliest time of the next attempt. Null unless the job is waiting. */
  dueAt: number | null;
  workerId: string | null;
  startedAt: number | null;
  finishedAt: number | null;
  exitCode: number | null;
  lastError: string | null;
  durationMs: number | null;
}

/** The right to act on a running job. A claim with a higher token invalidates all earlier claims of the job. */
export interface Claim {
  /** The store's number of the job. */
  job: number;
  token: number;
  /** The store's number of the attempt. It is never reused. */
  attempt: number;
}

/** A job together with the right to run it. */
export interface ClaimedJob extends Job {
  claim: Claim;
  /** The number of the attempt, counted from 1 for each job, as in `logs --attempt N`. */
  ordinal: number;
  /** Why the attempt is being ended. Null unless its end has been requested. */
  endReason: EndReason | null;
  /** The name of the host on which the attempt runs. Null if that is this host, and always in a store that one host uses. */
  otherHost: string | null;
  /** Whether the attempt was started in another boot of its host. Always false in a store that one host uses. */
  otherBoot: boolean;
}

/** The reasons for which queuectl ends a running attempt. */
export type EndReason = 'timeout' | 'cancelled' | 'stopped';

const NAMED_PRIORITIES = { low: -10, normal: 0, high: 10, urgent: 20 };
export type PriorityName = keyof typeof NAMED_PRIORITIES;
export const PRIORITIES: ReadonlyMap<string, number> = new Map(Object.entries(NAMED_PRIORITIES));

/** Other names that filters accept for states. */
export const STATE_ALIASES = new Map<string, State>([
  ['queued', 'pending'],
  ['waiting', 'pending'],
  ['running', 'processing'],
  ['active', 'processing'],
  ['done', 'completed'],
  ['success', 'completed'],
  ['succeeded', 'completed'],
  ['complete', 'completed'],
  ['finished', 'completed'],
  ['retrying', 'failed'],
  ['dlq', 'dead'],
  ['canceled', 'cancelled'],
]);
