import type { EventDetail, EventKind, StoreEvent } from './events.ts';
import { toIso } from './time.ts';

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
