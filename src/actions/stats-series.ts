import {
  addFigures,
  COUNT_NAMES,
  emptyFigures,
  type Figures,
  PERIODS,
  type Period,
} from '../core/figures.ts';
import { percentilesOf } from '../core/histogram.ts';
import { TIERS, type Tier } from '../core/tiers.ts';
import { toIso } from '../core/time.ts';
import type { FiguresObject, NamedFigures, SeriesObject } from '../core/wire.ts';
import type { SeriesRequest } from '../store/contract/figures.ts';
import type { App } from './app.ts';

export interface SeriesOptions {
  queue?: string | undefined;
  name?: string | undefined;
  /** Also returns the totals by queue and name. */
  withNames?: boolean;
}

/** Returns the figures of a range, which ends now, in steps and in total. */
export async function statsSeries(
  app: App,
  range: Period,
  options: SeriesOptions = {},
): Promise<SeriesObject> {
  const { tier, stepMs, points } = PERIODS[range];
  const now = app.clock.now();
  const lastStart = now - (now % stepMs);
  const from = lastStart - (points - 1) * stepMs;
  const { queue, name } = options;
  const request = { tier, from, to: lastStart + stepMs, queue, name };
  const steps = Array.from({ length: points }, () => emptyFigures());
  const total = emptyFigures();
  for (const row of await app.store.series(request))
    addFigures(steps[Math.floor((row.at - from) / stepMs)]!, row);
  for (const step of steps) addFigures(total, step);
  const waitingSince = await oldestWaitingSince(app, queue);
  const oldestWaitingMs = steps.map(({ oldestMs }, i): number | null => {
    const end = Math.min(now, from + (i + 1) * stepMs);
    return name === undefined ? Math.max(oldestMs, end - (waitingSince ?? end)) || null : null;
  });
  const firstStep = steps.findIndex((step, i) => hasCounts(step) || oldestWaitingMs[i] !== null);
  return {
    range,
    step_ms: stepMs,
    from: toIso(from),
    to: toIso(now),
    queue: queue ?? null,
    name: name ?? null,
    data_from: firstStep === -1 ? null : toIso(from + firstStep * stepMs),
    points: steps.map((step, i) => ({
      at: toIso(from + i * stepMs),
      ...toFiguresObject(step),
      oldest_waiting_ms: oldestWaitingMs[i]!,
    })),
    total: toFiguresObject(total),
    names: options.withNames ? await figuresByName(app, request) : null,
  };
}

/**
 * Returns since when the oldest waiting job has been waiting, or null if no job is waiting. The job counts in all steps since
 * then, even in those for which no worker took samples.
 */
async function oldestWaitingSince(app: App, queue: string | undefined): Promise<number | null> {
  const waiting = await app.store.oldestWaiting(app.clock.now());
  const times = waiting.flatMap((one) =>
    queue === undefined || one.queue === queue ? (one.since ?? []) : [],
  );
  return times.length === 0 ? null : Math.min(...times);
}

function hasCounts(figures: Figures): boolean {
  return COUNT_NAMES.some((name) => figures[name] > 0);
}

/** Whole hours and days are read from the next coarser tier: 24 rows per name and day instead of 1,440. */
const COARSER: Record<Tier, Tier | null> = { minute: 'hour', hour: 'day', day: null };

async function figuresByName(app: App, request: SeriesRequest): Promise<NamedFigures[]> {
  const coarser = COARSER[request.tier];
  const coarserStepMs = coarser === null ? request.to : TIERS[coarser].stepMs;
  const coarserFrom = Math.min(request.to, Math.ceil(request.from / coarserStepMs) * coarserStepMs);
  const rows = await app.store.breakdown({ ...request, to: coarserFrom });
  if (coarser !== null)
    rows.push(...(await app.store.breakdown({ ...request, tier: coarser, from: coarserFrom })));
  const sums = new Map<string, (typeof rows)[number]>();
  for (const row of rows) {
    const sum = sums.get(`${row.name}\n${row.queue}`);
    if (sum === undefined) sums.set(`${row.name}\n${row.queue}`, row);
    else addFigures(sum, row);
  }
  // Samples of waiting jobs have a queue but no name, so there may be figures without counts.
  const counted = [...sums.values()].filter(hasCounts);
  const named = counted.map(({ queue, name, ...figures }) => ({
    queue,
    name: name === '' ? null : name,
    ...toFiguresObject(figures),
  }));
  const finishedAttempts = (one: NamedFigures): number => one.completed + one.failed + one.dead;
  return named.sort((a, b) => finishedAttempts(b) - finishedAttempts(a) || b.enqueued - a.enqueued);
}

function toFiguresObject(figures: Figures): FiguresObject {
  const { wait, run, oldestMs: _, ...counts } = figures;
  return { ...counts, wait_ms: percentilesOf(wait), run_ms: percentilesOf(run) };
}
