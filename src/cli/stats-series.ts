import { exactDuration, formatDuration } from '../core/duration.ts';
import { formatCount } from '../core/numbers.ts';
import type { FiguresObject, SeriesObject } from '../core/wire.ts';
import type { Io } from './io.ts';
import { jsonText } from './layout.ts';
import { printTable } from './table.ts';
import { pad } from './text.ts';
import { timesFor } from './times.ts';

const BARS = '▁▂▃▄▅▆▇█';
const NAME_WIDTH = 10;
const VALUE_WIDTH = 9;
/** A terminal shows this many job names with their figures. JSON has all of them. */
const SHOWN_NAMES = 10;
const COUNTED_EVENTS = ['enqueued', 'completed', 'failed', 'dead', 'cancelled'] as const;

/** Prints a time series: sparklines on a terminal, else one line per point. */
export function printSeries(io: Io, series: SeriesObject): void {
  if (io.json) io.out(`${jsonText(io, series)}\n`);
  else if (io.tty) draw(io, series);
  else for (const { at, ...point } of series.points) io.out(`${[at, ...figureCells(point)].join('\t')}\n`);
}

function figureCells(figures: FiguresObject): (string | number)[] {
  const { wait_ms, run_ms } = figures;
  const times = [wait_ms?.p50, wait_ms?.p95, run_ms?.p50, run_ms?.p95].map((ms) => ms ?? '-');
  return [...COUNTED_EVENTS.map((name) => countIn(figures, name)), figures.released, figures.lost, ...times];
}

/** Returns the count of one kind of event. Jobs that were cancelled before they ran count as cancelled, too. */
function countIn(figures: FiguresObject, name: (typeof COUNTED_EVENTS)[number]): number {
  return name === 'cancelled' ? figures.cancelled + figures.dropped : figures[name];
}

function draw(io: Io, { range, step_ms, to, data_from, points: all, total, names }: SeriesObject): void {
  // Points before the first data would only be empty columns.
  const points = all.filter(({ at }) => data_from === null || at >= data_from);
  const room = Math.max(10, Math.min(points.length, io.width - NAME_WIDTH - VALUE_WIDTH));
  const perColumn = Math.ceil(points.length / room);
  const line = (name: string, values: number[], value: string): void =>
    io.out(`${pad(name, NAME_WIDTH)}${value.padStart(VALUE_WIDTH - 2)}  ${sparkline(values, perColumn)}\n`);
  const time = timesFor(io, Date.parse(to)).text(data_from === null ? null : Date.parse(data_from));
  const since = points.length < all.length ? ` (data since ${time})` : '';
  io.out(
    `last ${range}${since}, ${exactDuration(step_ms * perColumn)} per column; the last column is incomplete\n`,
  );
  for (const name of COUNTED_EVENTS) {
    const values = points.map((point) => countIn(point, name));
    line(name, values, formatCount(countIn(total, name)));
  }
  for (const name of ['wait', 'run'] as const) {
    const p95 = points.map((point) => point[`${name}_ms`]?.p95 ?? 0);
    line(`${name} p95`, p95, durationText(total[`${name}_ms`]?.p95));
  }
  if (names === null || names.length === 0) return;
  io.out('\n');
  printTable(
    io,
    [
      { title: 'QUEUE', value: (one) => one.queue },
      { title: 'NAME', value: (one) => one.name ?? '-' },
      { title: 'COMPLETED', value: (one) => formatCount(one.completed) },
      { title: 'FAILED', value: (one) => formatCount(one.failed) },
      { title: 'DEAD', value: (one) => formatCount(one.dead) },
      { title: 'WAIT P95', value: (one) => durationText(one.wait_ms?.p95) },
      { title: 'RUN P95', value: (one) => durationText(one.run_ms?.p95) },
    ],
    names.slice(0, SHOWN_NAMES),
  );
}

function durationText(ms: number | undefined): string {
  return ms === undefined ? '-' : formatDuration(ms);
}

/** Draws the values in columns. Each column shows the highest of `perColumn` values. */
function sparkline(values: number[], perColumn: number): string {
  const columns: number[] = [];
  for (let i = 0; i < values.length; i += perColumn)
    columns.push(Math.max(...values.slice(i, i + perColumn)));
  const top = Math.max(1, ...columns);
  return columns
    .map((value) => (value === 0 ? ' ' : BARS[Math.ceil((value / top) * BARS.length) - 1]))
    .join('');
}
