import type { EventDetail, NewEvent } from './events.ts';
import { formatRate, type Rate } from './rate.ts';

export interface Pause {
  at: number;
  by: string;
}

/** Changes of a queue. Null removes a limit or the pause. */
export interface QueueChanges {
  paused?: Pause | null;
  concurrency?: number | null;
  rate?: Rate | null;
  agingMs?: number | null;
}

type Limits = Required<Omit<QueueChanges, 'paused'>>;

/** Turns each limit into the details of an event. */
const SHOWN: { [K in keyof Limits]: (value: Limits[K]) => EventDetail } = {
  concurrency: (concurrency) => ({ concurrency }),
  rate: (rate) => ({ rate: rate === null ? null : formatRate(rate) }),
  agingMs: (ms) => ({ priority_aging_ms: ms }),
};

/** Returns the events for the changes of a queue. Resuming a queue that was not paused makes none. */
export function queueChanged({ paused, ...limits }: QueueChanges, wasPaused: boolean): NewEvent[] {
  const events: NewEvent[] = [];
  if (paused) events.push({ kind: 'queue-paused' });
  if (paused === null && wasPaused) events.push({ kind: 'queue-resumed' });
  const detail: EventDetail = {};
  const show = <K extends keyof Limits>(name: K): void => {
    const value = limits[name];
    if (value !== undefined) Object.assign(detail, SHOWN[name](value as Limits[K]));
  };
  for (const name of Object.keys(SHOWN)) show(name as keyof Limits);
  if (Object.keys(detail).length > 0) events.push({ kind: 'queue-set', detail });
  return events;
}
