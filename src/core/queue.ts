import type { EventDetail, NewEvent } from './events.ts';
import { formatRate, type Rate } from './rate.ts';

/** When a queue was paused, and by whom. */
export interface Pause {
  at: number;
  by: string;
}

/** Changes to a queue. A property that is missing stays unchanged. Null removes a limit or the pause. */
export interface QueueChanges {
  paused?: Pause | null;
  concurrency?: number | null;
  rate?: Rate | null;
  /** The priority of a waiting job rises by one each time this many milliseconds have passed. */
  agingMs?: number | null;
}

/** Returns the events for the changes of a queue. Resuming a queue that was not paused causes no event. */
export function queueChangeEvents(changes: QueueChanges, wasPaused: boolean): NewEvent[] {
  const { paused, concurrency, rate, agingMs } = changes;
  const events: NewEvent[] = [];
  if (paused) events.push({ kind: 'queue-paused' });
  if (paused === null && wasPaused) events.push({ kind: 'queue-resumed' });
  const detail: EventDetail = {};
  if (concurrency !== undefined) detail.concurrency = concurrency;
  if (rate !== undefined) detail.rate = rate && formatRate(rate);
  if (agingMs !== undefined) detail.priority_aging_ms = agingMs;
  if (Object.keys(detail).length > 0) events.push({ kind: 'queue-set', detail });
  return events;
}
