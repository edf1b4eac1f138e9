import type { State } from '../core/jobs/job.ts';
import { WAITING_REASONS, zeroReasonCounts } from '../core/jobs/waiting-reason.ts';
import {
  addFigures,
  COUNT_NAMES,
  emptyFigures,
  type Figures,
  type MetricsSnapshot,
  PERIODS,
  type Period,
} from '../core/rules/figures.ts';
import { type Percentiles, percentilesByRank, percentilesOf } from '../core/rules/histogram.ts';
import { TIERS, type Tier } from '../core/rules/tiers.ts';
import { toIso } from '../core/time/time.ts';
import type { FiguresObject, NamedFigures, SeriesObject, Stats, WorkerObject } from '../core/wire/wire.ts';
import type { SeriesRequest } from '../store/contract/figures.ts';
import type { App } from './app.ts';
import { countReasons } from './jobs/waiting-reasons.ts';
import { activeWorkers, listWorkers, serves, takesJobs, toWorkerObject } from './workers/workers.ts';

export type Status = Awaited<ReturnType<typeof status>>;

export const countStates = (app: App): Promise<Record<State, number>> => app.store.stateCounts();

export async function status(app: App) {
  const jobs = await countStates(app);
  const total = Object.values(jobs).reduce((sum, n) => sum + n, 0);
  // Reasons without jobs are part of the answer.
  const reasons = zeroReasonCounts();
  for (const { jobs: counts } of await countReasons(app))
    for (const reason of WAITING_REASONS) reasons[reason] += counts[reason];
  return { jobs, total, waiting_for: reasons, workers: await listWorkers(app) };
}

/** The percentiles and the throughput are computed from at most this many finished attempts, so that the cost is bounded. */
const MAX_SAMPLE = 10_000;
const THROUGHPUT_WINDOW_MS = 5 * 60_000;

export async function stats(app: App): Promise<Stats> {
  const jobs = await countStates(app);
  const sample = await app.store.finishedAttempts(MAX_SAMPLE);
  const completedOrDead = jobs.completed + jobs.dead;
  return {
    jobs,
    success_rate: completedOrDead === 0 ? null : jobs.completed / completedOrDead,
    sampled_attempts: sample.length,
    wait_ms: percentiles(sample.flatMap((one) => one.waitMs ?? [])),
    run_ms: percentiles(sample.flatMap((one) => one.runMs ?? [])),
    throughput_per_minute: throughputPerMinute(sample, app.clock.now()),
  };
}

function percentiles(values: number[]): Percentiles | null {
  if (values.length === 0) return null;
  // A typed array sorts several times as fast as an array.
  const sorted = Float64Array.from(values).sort();
  return percentilesByRank(sorted.length, (rank) => sorted[rank - 1]!);
}

/** Returns the throughput in the window. If the sample is full and covers less time, returns the throughput in that time. */
function throughputPerMinute(sample: { finishedAt: number }[], now: number): number {
  const recent = sample.map((one) => one.finishedAt).filter((at) => at > now - THROUGHPUT_WINDOW_MS);
  if (recent.length === 0) return 0;
  const oldest = recent.reduce((a, b) => Math.min(a, b));
  const span = recent.length === MAX_SAMPLE ? Math.max(1, now - oldest) : THROUGHPUT_WINDOW_MS;
  return Math.round((recent.length / span) * 60_000 * 100) / 100;
}

interface SeriesOptions {
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

const WORKER_STATES: WorkerObject['status'][] = ['idle', 'busy', 'draining'];

/** Reads the figures for the metrics from the store. They cover the work of all processes. */
export async function metricsSnapshot(app: App, version: string): Promise<MetricsSnapshot> {
  const now = app.clock.now();
  const jobs = await app.store.counts();
  const workers = await activeWorkers(app);
  const states = workers.map((worker) => toWorkerObject(worker).status);
  const claimingWorkers = workers.filter(takesJobs);
  const runningJobs = (queue: string): number =>
    jobs.find((count) => count.queue === queue && count.state === 'processing')?.jobs ?? 0;
  return {
    version,
    now,
    jobs,
    waiting: await app.store.oldestWaiting(now),
    reasons: await countReasons(app),
    totals: await app.store.totals(),
    workers: WORKER_STATES.map((state) => ({ state, count: states.filter((one) => one === state).length })),
    slots: (await app.store.queues()).map(({ name, concurrency }) => ({
      queue: name,
      total: claimingWorkers
        .filter((worker) => serves(worker, name))
        .reduce((sum, worker) => sum + worker.concurrency, 0),
      busy: runningJobs(name),
      limit: concurrency,
    })),
    schedules: (await app.store.schedules()).map(({ name, lastAt }) => ({ name, lastAt })),
    walBytes: await app.store.walBytes(),
  };
}
