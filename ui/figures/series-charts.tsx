import { withQuery } from '../frame/router.ts';
import type { Figures, Series } from '../types.ts';
import { CHARTS } from '../words/charts.ts';
import { SHARED } from '../words/shared.ts';
import { Chart } from './chart.tsx';
import { depths, endedAttempts, failedAttempts, PERCENTILES, RANGES } from './series.ts';

const times = ({ points }: Series): number[] => points.map(({ at }) => Date.parse(at) / 1000);

/** Shows enqueued jobs, completed jobs and failed attempts over time. */
export function Throughput({ series, title = CHARTS.throughput }: { series: Series; title?: string }) {
  const line = (of: (one: Figures) => number): number[] => series.points.map(of);
  return (
    <Chart
      title={title}
      at={times(series)}
      lines={[
        { label: CHARTS.enqueued, colour: 'accent', values: line(({ enqueued }) => enqueued) },
        { label: CHARTS.completed, colour: 'good', values: line(({ completed }) => completed) },
        { label: SHARED.attemptsFailed, colour: 'bad', values: line(failedAttempts) },
      ]}
      unit="count"
    />
  );
}

/** Shows the share of ended attempts that failed. There is no value where no attempt ended. */
export function FailureRate({ series }: { series: Series }) {
  const values = series.points.map((one) =>
    endedAttempts(one) === 0 ? null : failedAttempts(one) / endedAttempts(one),
  );
  return (
    <Chart
      title={SHARED.attemptsFailed}
      at={times(series)}
      lines={[{ label: SHARED.attemptsFailed, colour: 'bad', values }]}
      unit="part"
    />
  );
}

export function Depth({ series, unfinished }: { series: Series; unfinished: number }) {
  return (
    <Chart
      title={CHARTS.unfinished}
      at={times(series)}
      lines={[{ label: CHARTS.unfinishedLine, colour: 'accent', values: depths(series, unfinished) }]}
      unit="level"
      note={CHARTS.unfinishedNote}
    />
  );
}

interface TimesProps {
  series: Series;
  of: 'wait_ms' | 'run_ms';
}

/** Shows percentiles over time. Wait times have the oldest waiting job, too, because percentiles cover only started jobs. */
export function TimesChart({ series, of }: TimesProps) {
  const atLeast1 = (ms: number | null): number | null => (ms === null ? null : Math.max(1, ms));
  const percentiles = PERCENTILES.map(([key, colour]) => ({
    label: key,
    colour,
    values: series.points.map((one) => atLeast1(one[of]?.[key] ?? null)),
  }));
  const oldest = {
    label: SHARED.oldestWaiting,
    colour: 'muted' as const,
    dashed: true,
    values: series.points.map((one) => atLeast1(one.oldest_waiting_ms)),
  };
  return (
    <Chart
      title={of === 'wait_ms' ? SHARED.waitTime : SHARED.runTime}
      at={times(series)}
      lines={of === 'wait_ms' ? [...percentiles, oldest] : percentiles}
      unit="ms"
    />
  );
}

export function RangeTabs({ range }: { range: string }) {
  return (
    <nav class="tabs" aria-label={CHARTS.range}>
      {RANGES.map((one) => (
        <a key={one} href={withQuery({ range: one })} aria-current={one === range ? 'true' : undefined}>
          {one}
        </a>
      ))}
    </nav>
  );
}
