import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { duration, number } from '../format.ts';
import { theme } from '../theme.ts';

interface Line {
  label: string;
  colour: 'good' | 'bad' | 'accent' | 'warn' | 'muted';
  values: (number | null)[];
}

interface ChartProps {
  title: string;
  /** Seconds. */
  at: number[];
  lines: Line[];
  unit: 'count' | 'ms';
}

const HEIGHT = 180;

/** Drawn by uPlot, which is loaded when the first chart is shown. The same figures stand below it as text. */
export function Chart({ title, at, lines, unit }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const library = useSignal<typeof uPlot | null>(null);
  const show = unit === 'ms' ? duration : number;
  const data = [at, ...lines.map(({ values }) => values)] as uPlot.AlignedData;
  useEffect(() => {
    void import('uplot').then((module) => {
      library.value = module.default;
    });
  }, []);
  const names = lines.map(({ label }) => label).join();
  useEffect(() => {
    const Plot = library.value;
    const place = box.current;
    if (Plot === null || place === null) return;
    plot.current = new Plot(options(place, lines, show), data, place);
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
  useEffect(() => plot.current?.setData(data));

  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        <ul class="legend">
          {lines.map(({ label, colour, values }) => (
            <li key={label} class={`line-${colour}`}>
              {label} <span class="number">{summary(values, unit)}</span>
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={box} class="plot" aria-hidden="true" />
    </figure>
  );
}

function summary(values: (number | null)[], unit: ChartProps['unit']): string {
  const known = values.filter((value) => value !== null);
  if (unit === 'count') return number(known.reduce((sum, value) => sum + value, 0));
  return known.length === 0 ? '–' : duration(known.at(-1)!);
}

function options(place: HTMLElement, lines: Line[], show: (value: number) => string): uPlot.Options {
  const style = getComputedStyle(place);
  const colour = (name: string): string => style.getPropertyValue(`--${name}-plain`).trim();
  const font = `11px ${style.fontFamily}`;
  const axis = { stroke: colour('muted'), font, ticks: { show: false } };
  return {
    ...{ width: place.clientWidth, height: HEIGHT, legend: { show: false }, padding: [8, 8, 0, 0] },
    cursor: { sync: { key: 'queuectl' }, points: { size: 6 } },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [
      { ...axis, size: 26, space: 80, grid: { show: false }, values: (_, splits) => times(splits) },
      {
        ...{ ...axis, size: 56, grid: { stroke: colour('line'), width: 1 } },
        values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? show(value) : '')),
      },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        ...{ label: line.label, stroke: colour(line.colour), width: 1.5, points: { show: false } },
        fill: `${colour(line.colour)}22`,
      })),
    ],
  };
}

const DAY = 86_400;
const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(undefined, options);
const CLOCK = format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const DATE = format({ day: 'numeric', month: 'short' });

/** One line a label: the clock within a day or two, the date beyond. */
function times(splits: number[]): string[] {
  const long = splits.at(-1)! - splits[0]! > 2 * DAY;
  return splits.map((at) => (long ? DATE : CLOCK).format(new Date(at * 1000)));
}
