import type { EventDetail, EventKind, StoreEvent } from './events.ts';
import { toIso } from './time.ts';

/** An event in JSON. The details of its kind are further fields of the same object. */
export interface EventObject {
  number: number;
  at: string;
  kind: EventKind;
  actor: string | null;
  job_id: string | null;
  queue: string | null;
  attempt: number | null;
  [detail: string]: EventDetail[string];
}

export function toEventObject(event: StoreEvent): EventObject {
  const { number, at, kind, actor, jobId, queue, attempt, detail } = event;
  return { number, at: toIso(at), kind, actor, job_id: jobId, queue, attempt, ...detail };
}
