import { addFigures, COUNTS, type Figures, noFigures, TIERS, type Tier } from '../core/figures.ts';
import { type Percentiles, percentilesOf } from '../core/histogram.ts';
import { toIso } from '../core/time.ts';
import type { SeriesRequest } from '../store/contract/figures.ts';
import type { App } from './app.ts';

/** Which tier shows a range, and how long a point of it is: enough of them for a chart, few enough to read at once. */
export const RANGES = {
  '1h': { tier: 'minute', stepMs: 60_000, points: 60 },
  '6h': { tier: 'minute', stepMs: 300_000, points: 72 },
  '24h': { tier: 'minute', stepMs: 900_000, points: 96 },
  '7d': { tier: 'hour', stepMs: 3_600_000, points: 168 },
  '30d': { tier: 'hour', stepMs: 6 * 3_600_000, points: 120 },
  '90d': { tier: 'day', stepMs: 86_400_000, points: 90 },
} as const satisfies Record<string, { tier: Tier; stepMs: number; points: number }>;
export type Range = keyof typeof RANGES;

export interface FiguresObject extends Record<(typeof COUNTS)[number], number> {
  /** By nearest rank, within 5%. Null if nothing was measured. */
  wait_ms: Percentiles | null;
  run_ms: Percentiles | null;
}

export interface SeriesObject {
  range: Range;
  step_ms: number;
  from: string;
  to: string;
  queue: string | null;
  name: string | null;
  /** The start of the first step that has data. Null if none has. */
  data_from: string | null;
  /** Every step of the range, zeros included, oldest first; the last one is still filling. */
  points: PointObject[];
  total: FiguresObject;
  /** The total by queue and name, the busiest first; null: not asked for. */
  names: NamedObject[] | null;
}

export interface PointObject extends FiguresObject {
  at: string;
  /** The longest wait of the oldest waiting job. Null if no job was seen waiting. It is not known by name. */
  oldest_waiting_ms: number | null;
}

export interface NamedObject extends FiguresObject {
  queue: string;
  name: string | null;
}

export interface SeriesOptions {
  queue?: string | undefined;
  name?: string | undefined;
  /** Also by queue and name. */
  names?: boolean;
}

export async function statsSeries(
  app: App,
  range: Range,
  options: SeriesOptions = {},
): Promise<SeriesObject> {
  const { tier, stepMs, points } = RANGES[range];
  const now = app.clock.now();
  const last = now - (now % stepMs);
  const from = last - (points - 1) * stepMs;
  const { queue, name } = options;
  const request: SeriesRequest = { tier, from, to: last + stepMs };
  if (queue !== undefined) request.queue = queue;
  if (name !== undefined) request.name = name;
  const steps = Array.from({ length: points }, () => noFigures());
  const total = noFigures();
  for (const row of await app.store.series(request))
    addFigures(steps[Math.floor((row.at - from) / stepMs)]!, row);
  for (const step of steps) addFigures(total, step);
  const since = await oldestSince(app, queue);
  const oldest = steps.map(({ oldestMs }, i): number | null => {
    const end = Math.min(now, from + (i + 1) * stepMs);
    return name === undefined ? Math.max(oldestMs, end - (since ?? end)) || null : null;
  });
  const first = steps.findIndex((step, i) => hasCounts(step) || oldest[i] !== null);
  return {
    range,
    step_ms: stepMs,
    from: toIso(from),
    to: toIso(now),
    queue: queue ?? null,
    name: name ?? null,
    data_from: first === -1 ? null : toIso(from + first * stepMs),
    points: steps.map((step, i) => ({
      at: toIso(from + i * stepMs),
      ...toObject(step),
      oldest_waiting_ms: oldest[i]!,
    })),
    total: toObject(total),
    names: options.names ? await byName(app, request) : null,
  };
}

/**
 * Returns since when the oldest waiting job has been waiting. It was waiting in all steps since then, even if no worker was
 * running that took samples.
 */
async function oldestSince(app: App, queue: string | undefined): Promise<number | null> {
  const waiting = await app.store.oldestWaiting(app.clock.now());
  const times = waiting.flatMap((one) =>
    queue === undefined || one.queue === queue ? (one.since ?? []) : [],
  );
  return times.length === 0 ? null : Math.min(...times);
}

function hasCounts(figures: Figures): boolean {
  return COUNTS.some((name) => figures[name] > 0);
}

/** Whole stretches are read from the next tier, which holds their sum: a day by names is 24 rows a name, not 1,440. */
const COARSER: Record<Tier, Tier | null> = { minute: 'hour', hour: 'day', day: null };

async function byName(app: App, request: SeriesRequest): Promise<NamedObject[]> {
  const coarser = COARSER[request.tier];
  const step = coarser === null ? request.to : TIERS[coarser].stepMs;
  const edge = Math.min(request.to, Math.ceil(request.from / step) * step);
  const rows = await app.store.breakdown({ ...request, to: edge });
  if (coarser !== null) rows.push(...(await app.store.breakdown({ ...request, tier: coarser, from: edge })));
  const sums = new Map<string, (typeof rows)[number]>();
  for (const row of rows) {
    const sum = sums.get(`${row.name}\n${row.queue}`);
    if (sum === undefined) sums.set(`${row.name}\n${row.queue}`, row);
    else addFigures(sum, row);
  }
  // Samples of waiting jobs belong to a queue and no name, so there may be figures without counts.
  const counted = [...sums.values()].filter(hasCounts);
  const named = counted.map(({ queue, name, ...figures }) => ({
    ...{ queue, name: name === '' ? null : name },
    ...toObject(figures),
  }));
  const busy = (one: NamedObject): number => one.completed + one.failed + one.dead;
  return named.sort((a, b) => busy(b) - busy(a) || b.enqueued - a.enqueued);
}

function toObject(figures: Figures): FiguresObject {
  const { wait, run, oldestMs: _, ...counts } = figures;
  return { ...counts, wait_ms: percentilesOf(wait), run_ms: percentilesOf(run) };
}
