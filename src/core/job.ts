import type { GroupOf, SpecOf } from './field.ts';
import type { JOB_FIELDS } from './job-fields.ts';

/** A job as the store keeps it: integers inside, words and ISO times outside (see job-object.ts). */

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
  /** Adds the job held. A stored job has `held` instead. */
  hold?: boolean;
}

/** What a command writes to. Unless they are split, both are one, and it is called stdout. */
export type Stream = 'stdout' | 'stderr';

/** Commands to run after what happens to this job, instead of those in the settings. `none` runs no command. */
export interface JobHooks extends GroupOf<typeof JOB_FIELDS, 'hooks'> {
  /** Is set by queuectl only: `none` for jobs that a hook enqueues. */
  idle?: string;
}

/** No other job with this key is added while it is pending, while it is active (pending or running), or for a time. */
export interface Uniqueness {
  key: string;
  while: 'pending' | 'active';
  /** From its enqueueing on, whatever becomes of it; then `while` does not count. */
  forMs: number | null;
}

/** How the job that is waited for has to end: completed, however it likes, or dead or cancelled. */
export const WANTED_ENDS = ['ok', 'any', 'notok'] as const;
export interface Dependency {
  id: string;
  on: (typeof WANTED_ENDS)[number];
}

/** What becomes of a job when one it waits for can no longer end as wanted. */
export const PARENT_FAILURES = ['cancel', 'hold', 'run'] as const;

/** When this job runs and is retried, as far as it differs from the settings. */
export interface JobPolicy extends GroupOf<typeof JOB_FIELDS, 'policy'> {}

/** A job that an idempotency key has added before, and that has been removed since: only its id is known. */
export interface GoneJob {
  id: string;
  existing: true;
  gone: true;
}

export interface Job extends JobSpec {
  /** An earlier job with the same unique key, returned in place of a new one. */
  existing?: true;
  /** Above 0 with `stdin` null: it has one, and nobody has read it. Lists and claims do not. */
  stdinBytes: number;
  state: State;
  attempts: number;
  crashes: number;
  createdAt: number;
  updatedAt: number;
  /** A person keeps it from running. */
  held: boolean;
  /** It waits for another job to end. */
  blocked: boolean;
  /** When it may run (again), while it waits. */
  dueAt: number | null;
  workerId: string | null;
  startedAt: number | null;
  finishedAt: number | null;
  exitCode: number | null;
  lastError: string | null;
  durationMs: number | null;
}

/** The right to act on a running job. A higher token voids every lower one. */
export interface Claim {
  /** The store's number of the job. */
  job: number;
  token: number;
  /** The store's number of the attempt, never reused. */
  attempt: number;
}

/** What proves that the directory of all attempts was not emptied: the value of a file below it, for attempts after this number. */
export interface Seal {
  value: string;
  after: number;
}

/** A job together with the right to run it. */
export interface ClaimedJob extends Job {
  claim: Claim;
  /** 1 for the job's first execution; what `logs --attempt N` counts. */
  ordinal: number;
  /** Why its processes are being ended, once somebody has committed to that. */
  endReason: EndReason | null;
}

/** Why queuectl itself ends a running attempt. */
export type EndReason = 'timeout' | 'cancelled' | 'stopped';

export const PRIORITIES = new Map([
  ['low', -10],
  ['normal', 0],
  ['high', 10],
  ['urgent', 20],
]);

/** What people call the states besides their names. */
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
