import type { ClaimedJob } from '../jobs/job.ts';
import { toIso } from '../time/time.ts';
import {
  attemptEndedEvent,
  type EventDetail,
  type EventFields,
  type EventKind,
  tickEvent,
  type WorkerEvent,
} from './events.ts';
import { exitCodeOf } from './outcome.ts';

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
