import type { ClaimedJob, EndReason } from '../jobs/job.ts';
import { toIso } from '../time/time.ts';
import { exitCodeOf, type Outcome, type Transition } from './decide.ts';

/** An event of a worker. It becomes a log line (`observe/`), or an object for a program (`toWorkerEventObject`). */
export type WorkerEvent =
  | { type: 'worker-ready'; workerId: string; pid: number; concurrency: number; queues: string[] | null }
  | { type: 'worker-draining'; workerId: string; running: number; why: string }
  /** `left` describes the jobs that a worker with `--drain` left waiting, or is empty. It is null if the worker was stopped. */
  | { type: 'worker-stopped'; workerId: string; left: string | null }
  | { type: 'worker-error'; workerId: string; message: string }
  | { type: 'jobs-pruned'; workerId: string; jobs: number; bytes: number }
  /** `jobId` is null if the tick waits for an earlier job (`waits`) or was skipped. */
  | { type: 'tick'; schedule: string; at: number; jobId: string | null; waits: boolean }
  | { type: 'attempt-started'; job: ClaimedJob; pid: number }
  | { type: 'attempt-adopted'; job: ClaimedJob }
  /** The worker of the attempt is gone, but its command may still run in a pid namespace that this worker cannot see. */
  | { type: 'attempt-unseen'; job: ClaimedJob }
  | { type: 'attempt-ending'; job: ClaimedJob; reason: string }
  | {
      type: 'attempt-settled';
      job: ClaimedJob;
      outcome: Outcome;
      transition: Transition;
      durationMs: number;
      error: string | null;
    }
  /** Another worker has taken over the job, so this worker did not write a result. */
  | { type: 'claim-lost'; job: ClaimedJob };

export type Emit = (event: WorkerEvent) => void;

/** The kinds of events in the store's log. Each event is written in the transaction of the change that it records. */
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

/** Further details of an event, in the same form as in its JSON object. */
export type EventDetail = Record<string, string | number | boolean | null | string[]>;

/** An event to be written. The store adds its number, time and actor, and the job, queue and attempt that it concerns. */
export interface NewEvent {
  kind: EventKind;
  detail?: EventDetail;
}

export interface StoreEvent {
  /** The number of the event. It rises by one with every event, in the order of the commits. */
  number: number;
  at: number;
  kind: EventKind;
  /** A person (user@host), an HTTP client (http:address) or a worker's id. Null if the program gave none. */
  actor: string | null;
  /** Null if the event concerns no job, or one that was enqueued with others in one batch and has been removed since. */
  jobId: string | null;
  queue: string | null;
  /** The number of the attempt, counted from 1 for each job. Null if the event concerns no attempt. */
  attempt: number | null;
  detail: EventDetail;
}

/** How an attempt ended and what becomes of its job. */
export interface AttemptEnd {
  transition: Transition;
  why: Outcome['why'];
  exitCode: number | null;
  error: string | null;
}

export function attemptEndedEvent({ transition, why, exitCode, error }: AttemptEnd): NewEvent {
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

export function attemptEndingEvent(reason: EndReason): NewEvent {
  return { kind: 'ending', detail: { reason } };
}

/** Returns the event for a tick that enqueued a job, that waits, or that was skipped. */
export function tickEvent(schedule: string, at: number, manual: boolean, waits: boolean): NewEvent {
  return { kind: 'tick', detail: { schedule, scheduled_at: toIso(at), manual, waits } };
}

export function settingChangedEvent(key: string, value: string | null): NewEvent {
  return value === null
    ? { kind: 'setting-unset', detail: { key } }
    : { kind: 'setting-set', detail: { key, value } };
}

/** The fields that all events have. The details of a kind are further fields of the same object. */
export interface EventFields {
  at: string;
  actor: string | null;
  job_id: string | null;
  queue: string | null;
  attempt: number | null;
  [detail: string]: EventDetail[string];
}

/** An event of the store's log in JSON. */
export interface EventObject extends EventFields {
  /** The number of the event. It rises by one with every event, in the order of the commits. */
  number: number;
  kind: EventKind;
}

export function toEventObject(event: StoreEvent): EventObject {
  const { number, at, kind, actor, jobId, queue, attempt, detail } = event;
  return { number, at: toIso(at), kind, actor, job_id: jobId, queue, attempt, ...detail };
}

/** The kinds of events that only a worker reports. All other kinds are also in the store's log. */
type WorkerOnlyKind = 'worker-draining' | 'worker-error' | 'unseen' | 'claim-lost';

/** An event of a worker in JSON. Its kind and fields have the same names as in the store's log. */
export interface WorkerEventObject extends EventFields {
  /** Null, because only the events in the store's log have numbers. */
  number: null;
  kind: EventKind | WorkerOnlyKind;
}

type Subject = Partial<Pick<EventFields, 'job_id' | 'queue' | 'attempt'>>;
type Description = { kind: WorkerEventObject['kind']; subject?: Subject; detail?: EventDetail };

export function toWorkerEventObject(event: WorkerEvent, workerId: string, now: number): WorkerEventObject {
  const { kind, subject, detail } = describeEvent(event);
  const noSubject = { job_id: null, queue: null, attempt: null };
  return { number: null, at: toIso(now), kind, actor: workerId, ...noSubject, ...subject, ...detail };
}

function describeEvent(event: WorkerEvent): Description {
  switch (event.type) {
    case 'worker-ready': {
      const { pid, concurrency, queues } = event;
      return workerEvent(event, { pid, concurrency, queues: queues ?? ['*'] });
    }
    case 'worker-draining':
      return workerEvent(event, { running: event.running, why: event.why });
    case 'worker-stopped':
      return workerEvent(event, { left: event.left });
    case 'worker-error':
      return workerEvent(event, { error: event.message });
    case 'jobs-pruned':
      return workerEvent(event, { jobs: event.jobs, bytes: event.bytes });
    case 'tick':
      return { ...tickEvent(event.schedule, event.at, false, event.waits), subject: { job_id: event.jobId } };
    case 'attempt-started':
      return jobEvent('started', event.job, { pid: event.pid });
    case 'attempt-adopted':
      return jobEvent('adopted', event.job);
    case 'attempt-unseen':
      return jobEvent('unseen', event.job);
    case 'attempt-ending':
      return jobEvent('ending', event.job, { reason: event.reason });
    case 'attempt-settled': {
      const { outcome, transition, error } = event;
      const end = attemptEndedEvent({ transition, why: outcome.why, exitCode: exitCodeOf(outcome), error });
      return jobEvent(end.kind, event.job, { ...end.detail, duration_ms: event.durationMs });
    }
    case 'claim-lost':
      return jobEvent('claim-lost', event.job);
  }
}

type EventWithWorkerId = Extract<WorkerEvent, { workerId: string }>;

function workerEvent({ type, workerId }: EventWithWorkerId, detail: EventDetail): Description {
  return { kind: type, detail: { worker_id: workerId, ...detail } };
}

function jobEvent(kind: Description['kind'], job: ClaimedJob, detail: EventDetail = {}): Description {
  return { kind, subject: { job_id: job.id, queue: job.queue, attempt: job.ordinal }, detail };
}
