import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { theme } from '../frame/theme.ts';
import { clock, day, duration, number, percent } from '../parts/format.ts';
import { CHARTS } from '../words/charts.ts';
import { ChartTable } from './chart-table.tsx';
import { loadPlot } from './load-plot.ts';
import { options } from './plot-options.ts';

export interface Line {
  label: string;
  colour: 'good' | 'bad' | 'accent' | 'warn' | 'muted';
  values: (number | null)[];
  /** Sets a line of another kind apart. */
  dashed?: boolean;
}

export type Unit = 'count' | 'level' | 'ms' | 'part';

interface ChartProps {
  title: string;
  /** Unix times in seconds. */
  at: number[];
  lines: Line[];
  unit: Unit;
  note?: string;
}

export const HEIGHT = 180;
export const SHOW: Record<Unit, (value: number) => string> = {
  count: number,
  level: number,
  ms: duration,
  part: percent,
};

/** Draws a chart with uPlot, which is loaded with the first chart. Its figures are also shown as text and as a table. */
export function Chart({ title, at, lines, unit, note }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const zoomed = useRef(false);
  const library = useSignal<typeof uPlot | null>(null);
  const cursor = useSignal<number | null>(null);
  const data = [at, ...lines.map(({ values }) => values)] as uPlot.AlignedData;
  useEffect(() => {
    void loadPlot().then((loaded) => {
      library.value = loaded;
    });
  }, []);
  const names = lines.map(({ label }) => label).join();
  useEffect(() => {
    const Plot = library.value;
    const place = box.current;
    if (Plot === null || place === null) return;
    plot.current = new Plot(options(place, lines, unit, { cursor, zoomed }), data, place);
    const sized = new ResizeObserver(() =>
      plot.current?.setSize({ width: place.clientWidth, height: HEIGHT }),
    );
    sized.observe(place);
    return () => {
      sized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [library.value, names, theme.value]);
  useEffect(() => {
    // A zoomed chart keeps its range when new data arrives.
    plot.current?.setData(data, !zoomed.current);
    if (zoomed.current) plot.current?.redraw();
  });

  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        <Legend at={at} lines={lines} unit={unit} cursor={cursor} />
      </figcaption>
      <div ref={box} class="plot" aria-hidden="true" />
      {note === undefined ? null : <p class="faint note">{note}</p>}
      <ChartTable title={title} at={at} lines={lines} unit={unit} />
    </figure>
  );
}

interface LegendProps {
  at: number[];
  lines: Line[];
  unit: Unit;
  cursor: Signal<number | null>;
}

/** Shows the values at the cursor. It is a component of its own, so that a moving cursor redraws nothing else. */
function Legend({ at, lines, unit, cursor }: LegendProps) {
  const here = cursor.value !== null && cursor.value < at.length ? cursor.value : null;
  const time = new Date(at[here ?? 0]! * 1000);
  return (
    <ul class="legend">
      {lines.map(({ label, colour, values }) => (
        <li key={label} class={`line-${colour}`}>
          {label}{' '}
          <span class="number">{here === null ? summary(values, unit) : shown(values[here], unit)}</span>
        </li>
      ))}
      {here === null ? null : <li class="at">{`${day(time)} ${clock(time)}`}</li>}
    </ul>
  );
}

const shown = (value: number | null | undefined, unit: Unit): string =>
  value === null || value === undefined ? '–' : SHOW[unit](value);

/** Returns the sum of counts, or else the last value and the maximum. */
function summary(values: (number | null)[], unit: Unit): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return '–';
  if (unit === 'count') return number(known.reduce((sum, value) => sum + value, 0));
  const most = known.reduce((a, b) => Math.max(a, b));
  const last = known.at(-1)!;
  return most === last ? SHOW[unit](last) : CHARTS.max(SHOW[unit](last), SHOW[unit](most));
}
