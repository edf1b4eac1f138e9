import type { EventFields } from './event-object.ts';
import { attemptEnded, type EventDetail, type EventKind, tickEvent, type WorkerEvent } from './events.ts';
import type { ClaimedJob } from './job.ts';
import { exitCodeOf } from './outcome.ts';
import { toIso } from './time.ts';

/** The kinds of events that only a worker reports. Each other kind also stands in the store's log. */
type WorkerOnlyKind = 'worker-draining' | 'worker-error' | 'unseen' | 'claim-lost';

/** An event of a worker, with the names that the same event has in the store's log. */
export interface WorkerEventObject extends EventFields {
  /** A worker reports the event itself. It does not come from the numbered log. */
  number: null;
  kind: EventKind | WorkerOnlyKind;
}

type About = Partial<Pick<EventFields, 'job_id' | 'queue' | 'attempt'>>;
type Described = { kind: WorkerEventObject['kind']; about?: About; detail?: EventDetail };

export function toWorkerEventObject(event: WorkerEvent, workerId: string, now: number): WorkerEventObject {
  const { kind, about, detail } = describe(event);
  const subject = { job_id: null, queue: null, attempt: null, ...about };
  return { number: null, at: toIso(now), kind, actor: workerId, ...subject, ...detail };
}

function describe(event: WorkerEvent): Described {
  switch (event.type) {
    case 'worker-ready': {
      const { pid, concurrency, queues } = event;
      return ofWorker(event, { pid, concurrency, queues: queues ?? ['*'] });
    }
    case 'worker-draining':
      return ofWorker(event, { running: event.running, why: event.why });
    case 'worker-stopped':
      return ofWorker(event, { left: event.left });
    case 'worker-error':
      return ofWorker(event, { error: event.message });
    case 'jobs-pruned':
      return ofWorker(event, { jobs: event.jobs, bytes: event.bytes });
    case 'tick':
      return { ...tickEvent(event.schedule, event.at, false, event.waits), about: { job_id: event.jobId } };
    case 'attempt-started':
      return ofJob('started', event.job, { pid: event.pid });
    case 'attempt-adopted':
      return ofJob('adopted', event.job);
    case 'attempt-unseen':
      return ofJob('unseen', event.job);
    case 'attempt-ending':
      return ofJob('ending', event.job, { reason: event.reason });
    case 'attempt-settled': {
      const { outcome, transition, error } = event;
      const end = attemptEnded({ transition, why: outcome.why, exitCode: exitCodeOf(outcome), error });
      return ofJob(end.kind, event.job, { ...end.detail, duration_ms: event.durationMs });
    }
    case 'claim-lost':
      return ofJob('claim-lost', event.job);
  }
}

type OfWorker = Extract<WorkerEvent, { workerId: string }>;

function ofWorker({ type, workerId }: OfWorker, detail: EventDetail): Described {
  return { kind: type, detail: { worker_id: workerId, ...detail } };
}

function ofJob(kind: Described['kind'], job: ClaimedJob, detail: EventDetail = {}): Described {
  return { kind, about: { job_id: job.id, queue: job.queue, attempt: job.ordinal }, detail };
}
