import type { Signal } from '@preact/signals';
import type uPlot from 'uplot';
import { clock, day } from '../parts/format.ts';
import { HEIGHT, type Line, SHOW, type Unit } from './chart.tsx';

interface Live {
  /** The index of the point under the cursor, in this chart or another. */
  cursor: Signal<number | null>;
  zoomed: { current: boolean };
}

/** Returns the options of a chart. Times differ by powers of ten, so their axis is logarithmic. */
export function options(place: HTMLElement, lines: Line[], unit: Unit, live: Live): uPlot.Options {
  const style = getComputedStyle(place);
  const colour = (name: string): string => style.getPropertyValue(`--${name}-plain`).trim();
  const font = `11px ${style.fontFamily}`;
  const axis = { stroke: colour('muted'), font, ticks: { show: false } };
  const whole = unit === 'count' || unit === 'level';
  return {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    // The last label of the time axis is centered below the right edge.
    padding: [8, 20, 0, 0],
    cursor: { sync: { key: 'queuectl' }, points: { size: 6 } },
    scales: { y: unit === 'ms' ? LOGARITHMIC : { range: (_, __, max) => [0, top(max, unit)] } },
    hooks: {
      setCursor: [
        (plot) => {
          live.cursor.value = plot.cursor.idx ?? null;
        },
      ],
      setSelect: [
        (plot) => {
          live.zoomed.current = plot.select.width > 0;
        },
      ],
      ready: [
        (plot) =>
          plot.over.addEventListener('dblclick', () => {
            live.zoomed.current = false;
          }),
      ],
    },
    axes: [
      { ...axis, size: 26, space: 80, grid: { show: false }, values: (_, splits) => times(splits) },
      {
        ...axis,
        size: 60,
        grid: { stroke: colour('line'), width: 1 },
        values: (_, splits) =>
          splits.map((value) => (whole && !Number.isInteger(value) ? '' : SHOW[unit](value))),
        ...(unit === 'ms' ? { filter: (_: uPlot, splits: number[]) => splits, splits: rungs } : {}),
      },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.label,
        stroke: colour(line.colour),
        width: 1.5,
        points: { show: true, size: 5, fill: colour(line.colour), filter: alone },
        ...(unit === 'ms' || line.dashed ? {} : { fill: `${colour(line.colour)}22` }),
        ...(line.dashed ? { dash: [5, 5] } : {}),
      })),
    ],
  };
}

/** Values of a time axis, from a millisecond to ten days. */
const RUNGS = [1, 10, 100, 1000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000, 86_400_000, 864_000_000];

const LOGARITHMIC: uPlot.Scale = {
  distr: 3,
  range: (_, min, max) => [
    RUNGS.findLast((rung) => rung <= (min ?? 1)) ?? 1,
    RUNGS.find((rung) => rung > (max ?? 1)) ?? RUNGS.at(-1)! * 10,
  ],
};

/** Returns the values without neighbors. They are drawn as points, because they form no line. */
function alone(plot: uPlot, series: number): number[] {
  const values = plot.data[series] as (number | null)[];
  const none = (i: number): boolean => (values[i] ?? null) === null;
  return values.flatMap((_, i) => (!none(i) && none(i - 1) && none(i + 1) ? [i] : []));
}

const rungs = (_: uPlot, __: number, min: number, max: number): number[] =>
  RUNGS.filter((rung) => rung >= min && rung <= max);

const top = (max: number | null, unit: Unit): number =>
  unit === 'part' ? Math.min(1, Math.max(0.05, (max ?? 0) * 1.2)) : Math.max(1, (max ?? 0) * 1.1);

const DAY = 86_400;

/** Labels a time axis with times of day, or with dates if it is longer than two days. No label is repeated. */
function times(splits: number[]): string[] {
  const long = splits.at(-1)! - splits[0]! > 2 * DAY;
  const labels = splits.map((at) => (long ? day : clock)(new Date(at * 1000)));
  return labels.map((label, i) => (label === labels[i - 1] ? '' : label));
}
