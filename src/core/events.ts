import type { Transition } from './decide.ts';
import type { ClaimedJob, EndReason } from './job.ts';
import type { Outcome } from './outcome.ts';
import { toIso } from './time.ts';

/** What happens in a worker. Code emits these; observe/ words and counts them. */
export type WorkerEvent =
  | { type: 'worker-ready'; workerId: string; pid: number; concurrency: number; queues: string[] | null }
  | { type: 'worker-draining'; workerId: string; running: number; why: string }
  | { type: 'worker-stopped'; workerId: string; left: string | null }
  | { type: 'worker-error'; workerId: string; message: string }
  | { type: 'jobs-pruned'; workerId: string; jobs: number; bytes: number }
  | { type: 'tick'; schedule: string; at: number; jobId: string | null; waits: boolean }
  | { type: 'attempt-started'; job: ClaimedJob; pid: number }
  | { type: 'attempt-adopted'; job: ClaimedJob }
  /** Its worker is gone, and it may live in a pid namespace that this worker cannot see into. */
  | { type: 'attempt-unseen'; job: ClaimedJob }
  | { type: 'attempt-ending'; job: ClaimedJob; reason: string }
  | { type: 'attempt-settled'; job: ClaimedJob; outcome: Outcome; transition: Transition; durationMs: number }
  /** The claim was somebody else's by then: nothing was changed. */
  | { type: 'claim-lost'; job: ClaimedJob };

export type Emit = (event: WorkerEvent) => void;

/**
 * What happened in the store, over all processes. Each is written in the transaction of the change it tells of. Where a
 * worker's log has a word for the same thing, it is that word.
 */
export const EVENT_KINDS = [
  ...['enqueued', 'started', 'adopted', 'ending', 'requeued', 'completed', 'failed', 'dead', 'cancelled'],
  ...['retried', 'held', 'released', 'edited', 'deleted', 'jobs-pruned'],
  ...['queue-paused', 'queue-resumed', 'queue-set', 'queue-deleted', 'setting-set', 'setting-unset'],
  ...['schedule-added', 'schedule-edited', 'schedule-removed', 'schedule-paused', 'schedule-resumed'],
  'tick',
  ...['worker-ready', 'worker-stopped'],
  ...['operation-begun', 'operation-ended'],
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** What else there is to say about it, in the names and forms in which it is shown. */
export type EventDetail = Record<string, string | number | boolean | null | string[]>;

/** What a change is to be remembered as. */
export interface Happening {
  kind: EventKind;
  detail?: EventDetail;
}

export interface StoreEvent {
  /** Rises by one with every event, in the order of the commits. */
  number: number;
  at: number;
  kind: EventKind;
  /** A person (user@host) or a worker's id. */
  actor: string | null;
  /** Null: it is about no job, or about one of many that were enqueued at once and that is gone by now. */
  jobId: string | null;
  queue: string | null;
  /** Which attempt of the job. */
  attempt: number | null;
  detail: EventDetail;
}

interface Ended {
  transition: Transition;
  why: Outcome['why'];
  exitCode: number | null;
  error: string | null;
}

/** What the end of an attempt means to those who look on. */
export function attemptEnded({ transition, why, exitCode, error }: Ended): Happening {
  const detail: EventDetail = { outcome: why, exit_code: exitCode };
  if (error !== null) detail.error = error;
  switch (transition.to) {
    case 'failed':
      return { kind: 'failed', detail: { ...detail, next_run_at: toIso(transition.nextRunAt) } };
    case 'released':
      return { kind: 'requeued', detail };
    default:
      return { kind: transition.to, detail };
  }
}

export function attemptEnding(reason: EndReason): Happening {
  return { kind: 'ending', detail: { reason } };
}

/** A tick that enqueued a job, waits for the one before it, or was skipped because of it or of its unique key. */
export function ticked(schedule: string, at: number, manual: boolean, waits: boolean): Happening {
  return { kind: 'tick', detail: { schedule, scheduled_at: toIso(at), manual, waits } };
}

export function settingChanged(key: string, value: string | null): Happening {
  return value === null
    ? { kind: 'setting-unset', detail: { key } }
    : { kind: 'setting-set', detail: { key, value } };
}
