import type { Job, State } from './job.ts';
import { matchingWorker } from './runs-on.ts';

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

/** Returns the reason with spaces, for people. */
export const reasonText = (reason: WaitingReason): string => reason.replaceAll('_', ' ');

/** Returns the reason why a job waits, for people. It names the label or the host that the job asks for if no worker has it. */
export function reasonTextOf({ waitingFor, runsOn }: Pick<JobWithReason, 'waitingFor' | 'runsOn'>): string {
  if (waitingFor === null) return '';
  return waitingFor === 'no_worker' && runsOn !== null
    ? `no ${matchingWorker(runsOn)}`
    : reasonText(waitingFor);
}

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
  /** Tells whether a worker that serves the queue has the label or the host that a job asks for. Without it, all jobs have one. */
  hasWorkerFor?(queue: string, runsOn: string): boolean;
}

/** Due jobs of a queue that ask for the same label or host (`runsOn`). */
export interface Place {
  queue: string;
  runsOn: string;
}

/** Tells whether jobs wait only because no worker has the label or the host that they ask for. */
export function isUnmatched(
  { queue, runsOn }: Place,
  { queues, otherQueues, hasWorkerFor }: Circumstances,
): boolean {
  return (queues.get(queue) ?? otherQueues) !== 'queue_paused' && hasWorkerFor?.(queue, runsOn) === false;
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
  job: Pick<Job, 'state' | 'held' | 'blocked' | 'delayed' | 'dueAt' | 'queue' | 'runsOn'>,
  circumstances: Circumstances,
): WaitingReason | null {
  const { now, queues, otherQueues } = circumstances;
  const { queue, runsOn } = job;
  if (!isWaiting(job)) return null;
  if (job.held) return 'held';
  if (job.blocked) return 'blocked';
  // A delayed job that is due counts as ready, even if no worker has made it ready yet.
  if (job.delayed && job.dueAt! > now) return job.state === 'failed' ? 'retrying' : 'scheduled';
  if (runsOn !== null && isUnmatched({ queue, runsOn }, circumstances)) return 'no_worker';
  return queues.get(queue) ?? otherQueues;
}

/** Selects waiting jobs in a form that a store can look up: by their own reasons, and by queue if they are due. */
export interface WaitingSelection extends Record<OwnReason, boolean> {
  now: number;
  /** The queues whose due jobs are selected, except those of `unmatched`. */
  due: string[];
  /** The due jobs for which no worker has the label or the host that they ask for. */
  unmatched: Place[];
  /** Tells whether the jobs of `unmatched` are selected. */
  noMatch: boolean;
}

/**
 * Returns the selection of jobs that wait for one of these reasons. `names` are the names of all queues, and `places` has all due
 * jobs that ask for a label or a host.
 */
export function selectWaiting(
  reasons: readonly WaitingReason[],
  circumstances: Circumstances,
  names: readonly string[],
  places: readonly Place[] = [],
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
    unmatched: places
      .filter((place) => isUnmatched(place, circumstances))
      .map(({ queue, runsOn }) => ({ queue, runsOn })),
    noMatch: isWanted('no_worker'),
  };
}

export type ReasonCounts = Record<WaitingReason, number>;

const ZEROS = Object.fromEntries(WAITING_REASONS.map((reason) => [reason, 0])) as ReasonCounts;

/** Returns a new object, which the caller may change. A copy costs less than a new object for each of many queues. */
export const zeroReasonCounts = (): ReasonCounts => ({ ...ZEROS });
