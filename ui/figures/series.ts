import { useRef } from 'preact/hooks';
import { part } from '../frame/api.ts';
import { type Data, useData } from '../frame/data.ts';
import type { Figures, Percentiles, Series } from '../types.ts';

const SLOW_MS = 5000;
/** A chart has at least this many points, so that it shows a course and not only a slope. */
const FEWEST_POINTS = 5;
export const RANGES = ['1h', '6h', '24h', '7d', '30d', '90d'];

interface SeriesOptions {
  queue?: string | undefined;
  name?: string | undefined;
  /** Also returns the figures by queue and name. */
  names?: boolean;
}

/** Is used until data arrives. A chart without lines takes the space that it needs later, so that nothing moves. */
export const NO_SERIES: Series = {
  step_ms: 60_000,
  data_from: null,
  points: [],
  names: null,
  total: {
    enqueued: 0,
    dropped: 0,
    completed: 0,
    failed: 0,
    dead: 0,
    cancelled: 0,
    released: 0,
    lost: 0,
    wait_ms: null,
    run_ms: null,
  },
};

/** Reads the figures of a time range. */
export function useSeries(range: string, { queue, name, names }: SeriesOptions = {}): Data<Series> {
  const of = [
    queue === undefined ? '' : `&queue=${part(queue)}`,
    name === undefined ? '' : `&name=${part(name)}`,
    names ? '&names=true' : '',
  ];
  const found = useData<Series>(`/stats/series?range=${range}${of.join('')}`, { gapMs: SLOW_MS });
  // The last range stays until the next one arrives, so that nothing moves.
  const last = useRef<Series | null>(null);
  last.current = found.value === null ? last.current : fromFirstData(found.value);
  return { ...found, value: last.current };
}

/** Drops the points before the first data, except one from which the lines rise, so that no chart begins with an empty stretch. */
function fromFirstData(series: Series): Series {
  const first = series.points.findIndex(({ at }) => at === series.data_from);
  if (first === -1) return series;
  const shown = Math.max(FEWEST_POINTS, series.points.length - first + 1);
  return { ...series, points: series.points.slice(-shown) };
}

export const endedAttempts = (one: Figures): number => one.completed + one.failed + one.dead;
/** Returns the share of jobs that completed among those that completed or died, as `success_rate` of the API. Null if none did. */
export const completedShare = ({ completed, dead }: Figures): number | null =>
  completed + dead === 0 ? null : completed / (completed + dead);
export const failedAttempts = (one: Figures): number => one.failed + one.dead;

/** Returns the rate per minute over the last full steps. The current step is incomplete. */
export function perMinute({ points, step_ms }: Series, of: (one: Figures) => number): number {
  const last = points.slice(-6, -1);
  const sum = last.reduce((all, point) => all + of(point), 0);
  return Math.round((sum / Math.max(1, last.length)) * (60_000 / step_ms) * 10) / 10;
}

/** Returns the unfinished jobs at the end of each step, calculated backwards from the current number. */
export function depths({ points }: Series, now: number): number[] {
  let depth = now;
  return points
    .toReversed()
    .map((point) => {
      const then = depth;
      const over = point.completed + point.dead + point.cancelled + point.dropped;
      depth = Math.max(0, depth - point.enqueued + over);
      return then;
    })
    .toReversed();
}

export const PERCENTILES = [
  ['p50', 'accent'],
  ['p95', 'warn'],
  ['p99', 'bad'],
] as const satisfies [keyof Percentiles, string][];
