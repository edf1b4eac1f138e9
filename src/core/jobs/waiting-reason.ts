import type { Job, State } from './job.ts';

/** The reasons why a job is not running. If several apply, the first one counts. */
export const WAITING_REASONS = [
  'held',
  'blocked',
  'scheduled',
  'retrying',
  'queue_paused',
  'no_worker',
  'at_limit',
  'rate_limited',
  'ready',
] as const;
export type WaitingReason = (typeof WAITING_REASONS)[number];

/** The reasons that depend on the job alone. The others depend on its queue and on the workers. */
export const OWN_REASONS = ['held', 'blocked', 'scheduled', 'retrying'] as const;
export type OwnReason = (typeof OWN_REASONS)[number];
/** The reasons that all due jobs of a queue share. */
export type QueueReason = Exclude<WaitingReason, OwnReason>;

/** Returns the reason with spaces, for people. The text is empty if the job does not wait. */
export const reasonText = (reason: WaitingReason | null): string => reason?.replaceAll('_', ' ') ?? '';

/** The conditions that decide whether the due jobs of a queue can be claimed. */
export interface QueueObstacles {
  paused: boolean;
  /** True if a worker takes jobs of this queue. */
  served: boolean;
  /** True if the concurrency limit of the queue, or the limit for all queues, is reached. */
  full: boolean;
  /** True if the rate limit allows no job now. */
  rateReached: boolean;
}

/** The queues and workers at one moment, as far as they decide why jobs wait. */
export interface Circumstances {
  now: number;
  /** Why the due jobs of these queues wait. It has all queues with a limit, but not those that have nothing of their own. */
  queues: ReadonlyMap<string, QueueReason>;
  /** Why the due jobs of all other queues wait. */
  otherQueues: QueueReason;
}

/** A job with the reason why it is not running: null if it is running or has ended. */
export interface JobWithReason extends Job {
  waitingFor: WaitingReason | null;
}

/** The states of a job that waits for an attempt. */
export const WAITING_STATES: readonly State[] = ['pending', 'failed'];

export const isWaiting = ({ state }: Pick<Job, 'state'>): boolean => WAITING_STATES.includes(state);

/** Returns why the due jobs of a queue wait. */
export function queueReason({ paused, served, full, rateReached }: QueueObstacles): QueueReason {
  if (paused) return 'queue_paused';
  if (!served) return 'no_worker';
  if (full) return 'at_limit';
  return rateReached ? 'rate_limited' : 'ready';
}

/** Returns why a job is not running, or null if it does not wait. */
export function waitingReason(
  job: Pick<Job, 'state' | 'held' | 'blocked' | 'delayed' | 'dueAt' | 'queue'>,
  circumstances: Circumstances,
): WaitingReason | null {
  const { now, queues, otherQueues } = circumstances;
  if (!isWaiting(job)) return null;
  if (job.held) return 'held';
  if (job.blocked) return 'blocked';
  // A delayed job that is due counts as ready, even if no worker has made it ready yet.
  if (job.delayed && job.dueAt! > now) return job.state === 'failed' ? 'retrying' : 'scheduled';
  return queues.get(job.queue) ?? otherQueues;
}

/** Selects waiting jobs in a form that a store can look up: by their own reasons, and by queue if they are due. */
export interface WaitingSelection extends Record<OwnReason, boolean> {
  now: number;
  /** The queues whose due jobs are selected. */
  due: string[];
}

/** Returns the selection of jobs that wait for one of these reasons. `names` are the names of all queues. */
export function selectWaiting(
  reasons: readonly WaitingReason[],
  circumstances: Circumstances,
  names: readonly string[],
): WaitingSelection {
  const { now, queues, otherQueues } = circumstances;
  const isWanted = (reason: WaitingReason): boolean => reasons.includes(reason);
  return {
    now,
    held: isWanted('held'),
    blocked: isWanted('blocked'),
    scheduled: isWanted('scheduled'),
    retrying: isWanted('retrying'),
    due: names.filter((name) => isWanted(queues.get(name) ?? otherQueues)),
  };
}

export type ReasonCounts = Record<WaitingReason, number>;

export const zeroReasonCounts = (): ReasonCounts =>
  Object.fromEntries(WAITING_REASONS.map((reason) => [reason, 0])) as ReasonCounts;
