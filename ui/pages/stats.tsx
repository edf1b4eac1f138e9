import { command } from '../cli.ts';
import { Chart } from '../components/chart.tsx';
import { Cli } from '../components/copy.tsx';
import { Throughput } from '../components/throughput.tsx';
import { useData } from '../data.ts';
import { duration, number, percent } from '../format.ts';
import { place, withQuery } from '../router.ts';
import { useSeries } from '../series.ts';
import type { Percentiles, SeriesPoint, Stats } from '../types.ts';

const RANGES = ['1h', '6h', '24h', '7d', '30d', '90d'];
const SLOW_MS = 5000;

export function StatsPage() {
  const range = place.value.query.get('range') ?? '1h';
  const queue = place.value.query.get('queue') ?? undefined;
  const stats = useData<Stats>('/stats', { gapMs: SLOW_MS });
  const series = useSeries(range, queue);
  const points = series?.points ?? [];
  const timed = points.some((point) => point.run_ms !== null);
  return (
    <section aria-label="Metrics">
      <h1 class="hidden">Metrics</h1>
      <nav class="tabs" aria-label="Range">
        {RANGES.map((one) => (
          <a key={one} href={withQuery({ range: one })} aria-current={one === range ? 'true' : undefined}>
            {one}
          </a>
        ))}
      </nav>
      <Throughput range={range} {...(queue === undefined ? {} : { queue })} />
      {timed ? (
        <div class="columns">
          <Times title="Time waited" points={points} of="wait_ms" />
          <Times title="Time run" points={points} of="run_ms" />
        </div>
      ) : null}
      {stats.value === null ? null : <Figures stats={stats.value} />}
      <p class="line">
        <Cli text={command('stats', '--range', range)} />
        <Cli text={`curl -H "Authorization: Bearer $TOKEN" ${location.origin}/metrics`} />
      </p>
    </section>
  );
}

function Times({ title, points, of }: { title: string; points: SeriesPoint[]; of: 'wait_ms' | 'run_ms' }) {
  const line = (key: keyof Percentiles): (number | null)[] => points.map((point) => point[of]?.[key] ?? null);
  return (
    <Chart
      title={title}
      at={points.map((point) => Date.parse(point.at) / 1000)}
      lines={[
        { label: 'p50', colour: 'accent', values: line('p50') },
        { label: 'p95', colour: 'warn', values: line('p95') },
      ]}
      unit="ms"
    />
  );
}

function Figures({ stats }: { stats: Stats }) {
  const rows: [string, Percentiles | null][] = [
    ['Waited', stats.wait_ms],
    ['Ran', stats.run_ms],
  ];
  return (
    <>
      <h2>The newest {number(stats.sampled_attempts)} attempts</h2>
      <div class="table">
        <table>
          <thead>
            <tr>
              <th>Time</th>
              <th class="right">p50</th>
              <th class="right">p95</th>
              <th class="right">p99</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([label, times]) => (
              <tr key={label}>
                <td>{label}</td>
                {(['p50', 'p95', 'p99'] as const).map((key) => (
                  <td key={key} class="right number">
                    {duration(times?.[key])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="faint quiet">
        {stats.throughput_per_minute} attempts a minute over the last five
        {stats.success_rate === null
          ? ''
          : `; ${percent(stats.success_rate)} of the jobs that ended have completed`}
      </p>
    </>
  );
}
