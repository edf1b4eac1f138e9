import { useSeries } from '../series.ts';
import { Chart } from './chart.tsx';

/** Jobs that ended, good and bad, over time. */
export function Throughput({ range, queue }: { range: string; queue?: string }) {
  const series = useSeries(range, queue);
  if (series === null) return <div class="chart" />;
  const { points } = series;
  return (
    <Chart
      title="Attempts that ended"
      at={points.map((point) => Date.parse(point.at) / 1000)}
      lines={[
        { label: 'completed', colour: 'good', values: points.map((point) => point.completed) },
        { label: 'failed', colour: 'bad', values: points.map((point) => point.failed + point.dead) },
      ]}
      unit="count"
    />
  );
}
