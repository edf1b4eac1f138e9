/** A job as the store keeps it: integers inside, words and ISO times outside (see job-object.ts). */

export const STATES = ['pending', 'processing', 'completed', 'failed', 'dead', 'cancelled'] as const;
export type State = (typeof STATES)[number];

export const FINAL_STATES: readonly State[] = ['completed', 'dead', 'cancelled'];

export const BACKOFF_STRATEGIES = ['exponential', 'linear', 'fixed'] as const;
export type BackoffStrategy = (typeof BACKOFF_STRATEGIES)[number];

/** What a user decides about a job; fixed once it is enqueued. */
export interface JobSpec {
  id: string;
  command: string;
  /** Given: run this program without a shell; `command` is then only its readable form. */
  argv: string[] | null;
  queue: string;
  priority: number;
  maxRetries: number;
  timeoutMs: number | null;
  /** The time the user asked for; null means at once. */
  runAt: number | null;
  backoffBase: number | null;
  cwd: string;
  env: Record<string, string>;
  tags: Record<string, string>;
  /** What kind of job this is, for people and filters. */
  name: string | null;
  hooks: JobHooks;
  policy: JobPolicy;
  unique: Uniqueness | null;
  /** Jobs that have to end first. */
  dependsOn: Dependency[];
  /** What its command reads; null: nothing. */
  stdin: string | null;
  /** stdout and stderr in files of their own. */
  splitOutput: boolean;
  /** Names only: the values come from the worker's environment when an attempt starts, and are never stored. */
  secretEnv: string[];
  /** Of the worker's environment only what every program needs, and the secrets. */
  cleanEnv: boolean;
}

/** What a command writes to. Unless they are split, both are one, and it is called stdout. */
export type Stream = 'stdout' | 'stderr';

/** Commands of this job's own, run after what happens to it instead of those in the settings; `none`: no command. */
export interface JobHooks {
  complete?: string;
  failure?: string;
  dead?: string;
  /** Set by queuectl alone: `none` for what a hook enqueues. */
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

/** When this job is run and tried again, where it differs from others. */
export interface JobPolicy {
  /** Only these exit codes are tried again. */
  retryOn?: number[];
  /** These exit codes never are. */
  noRetryOn?: number[];
  /** queuectl starts it once and never again by itself: its effects may have happened. */
  atMostOnce?: boolean;
  onParentFailure?: (typeof PARENT_FAILURES)[number];
  /** How the wait grows, instead of what the settings say when it fails. */
  backoff?: BackoffStrategy;
  retryDelayMs?: number;
  backoffMaxMs?: number;
  jitter?: number;
}

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
  ['dlq', 'dead'],
  ['running', 'processing'],
  ['waiting', 'pending'],
  ['done', 'completed'],
  ['canceled', 'cancelled'],
]);
