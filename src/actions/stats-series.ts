import { addFigures, type COUNTS, type Figures, noFigures, TIERS, type Tier } from '../core/figures.ts';
import { type Percentiles, percentilesOf } from '../core/histogram.ts';
import { toIso } from '../core/time.ts';
import type { SeriesRequest } from '../store/contract/figures.ts';
import type { App } from './app.ts';

/** The tier, the step and the number of points of each range: enough points for a chart, few enough to read together. */
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
  /** The percentiles are estimated from a histogram. They are null if nothing was measured. */
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
  /** The points of all steps of the range, including zeros, oldest first. The last step is not complete. */
  points: ({ at: string } & FiguresObject)[];
  total: FiguresObject;
  /** The totals by queue and name, the busiest first, or null if they were not requested. */
  names: NamedObject[] | null;
}

export interface NamedObject extends FiguresObject {
  queue: string;
  name: string | null;
}

export interface SeriesOptions {
  queue?: string | undefined;
  name?: string | undefined;
  /** Requests the totals by queue and name, too. */
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
  for (const { at, ...row } of await app.store.series(request)) {
    addFigures(steps[Math.floor((at - from) / stepMs)]!, row);
    addFigures(total, row);
  }
  return {
    range,
    step_ms: stepMs,
    from: toIso(from),
    to: toIso(now),
    queue: queue ?? null,
    name: name ?? null,
    points: steps.map((step, i) => ({ at: toIso(from + i * stepMs), ...toObject(step) })),
    total: toObject(total),
    names: options.names ? await byName(app, request) : null,
  };
}

/** Whole hours and days are read from the next coarser tier: 24 rows per name and day instead of 1,440. */
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
  const named = [...sums.values()].map(({ queue, name, ...figures }) => ({
    queue,
    name: name === '' ? null : name,
    ...toObject(figures),
  }));
  const busy = (one: NamedObject): number => one.completed + one.failed + one.dead;
  return named.sort((a, b) => busy(b) - busy(a) || b.enqueued - a.enqueued);
}

function toObject(figures: Figures): FiguresObject {
  const { wait, run, ...counts } = figures;
  return { ...counts, wait_ms: percentilesOf(wait), run_ms: percentilesOf(run) };
}
