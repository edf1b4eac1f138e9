import type { EventDetail, Happening } from './events.ts';
import { formatRate, type Rate } from './rate.ts';

export interface Pause {
  at: number;
  by: string;
}

/** What can be changed of a queue; null takes it away. */
export interface QueueChanges {
  paused?: Pause | null;
  concurrency?: number | null;
  rate?: Rate | null;
  agingMs?: number | null;
}

type Limits = Required<Omit<QueueChanges, 'paused'>>;

/** Each as it is shown in an event. */
const SHOWN: { [K in keyof Limits]: (value: Limits[K]) => EventDetail } = {
  concurrency: (concurrency) => ({ concurrency }),
  rate: (rate) => ({ rate: rate === null ? null : formatRate(rate) }),
  agingMs: (ms) => ({ priority_aging_ms: ms }),
};

/** A queue that was not paused is not resumed. */
export function queueChanged({ paused, ...limits }: QueueChanges, wasPaused: boolean): Happening[] {
  const happened: Happening[] = [];
  if (paused) happened.push({ kind: 'queue-paused' });
  if (paused === null && wasPaused) happened.push({ kind: 'queue-resumed' });
  const detail: EventDetail = {};
  const show = <K extends keyof Limits>(name: K): void => {
    const value = limits[name];
    if (value !== undefined) Object.assign(detail, SHOWN[name](value as Limits[K]));
  };
  for (const name of Object.keys(SHOWN)) show(name as keyof Limits);
  if (Object.keys(detail).length > 0) happened.push({ kind: 'queue-set', detail });
  return happened;
}
