import { signal } from '@preact/signals';
import { part } from './api.ts';
import { useData } from './data.ts';
import { onBatch } from './live.ts';
import type { Series, SeriesPoint } from './types.ts';

const SLOW_MS = 5000;
const STEP_MS = 10_000;
const STEPS = 60;

/** The figures that the store keeps; on a server without them, what this page has seen since it was opened. */
export function useSeries(range: string, queue?: string): Series | null {
  const path = `/stats/series?range=${range}${queue ? `&queue=${part(queue)}` : ''}`;
  const kept = useData<Series>(keeps.value ? path : null, { gapMs: SLOW_MS });
  if (kept.problem?.status === 404) keeps.value = false;
  if (!keeps.value) return { step_ms: STEP_MS, points: seen.value };
  return kept.value;
}

const keeps = signal(true);
const seen = signal<SeriesPoint[]>([]);

const fresh = (at: number): SeriesPoint => ({
  ...{
    at: new Date(at).toISOString(),
    enqueued: 0,
    completed: 0,
    failed: 0,
    dead: 0,
    wait_ms: null,
    run_ms: null,
  },
});

function moveOn(): SeriesPoint[] {
  const last = Math.floor(Date.now() / STEP_MS) * STEP_MS;
  const byTime = new Map(seen.value.map((point) => [point.at, point]));
  return Array.from({ length: STEPS }, (_, i) => {
    const at = fresh(last - (STEPS - 1 - i) * STEP_MS);
    return { ...at, ...byTime.get(at.at) };
  });
}

const COUNTED = ['enqueued', 'completed', 'failed', 'dead'] as const;

seen.value = moveOn();
onBatch(({ events }) => {
  const points = moveOn();
  for (const event of events) {
    const kind = COUNTED.find((one) => one === event.kind);
    const start = new Date(Math.floor(Date.parse(event.at) / STEP_MS) * STEP_MS).toISOString();
    const point = points.find((one) => one.at === start);
    if (kind !== undefined && point !== undefined) point[kind]++;
  }
  seen.value = points;
});
