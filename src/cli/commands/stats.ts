import { stats } from '../../actions/stats.ts';
import { RANGES, type Range, statsSeries } from '../../actions/stats-series.ts';
import { formatDuration } from '../../core/duration.ts';
import { QueueError } from '../../core/errors.ts';
import { STATES } from '../../core/job.ts';
import { formatCount, formatPercent } from '../../core/numbers.ts';
import { defineCommand, type Input } from '../command.ts';
import { jsonText } from '../layout.ts';
import { printSeries } from '../stats-series.ts';
import { pad } from '../text.ts';

export default defineCommand({
  name: 'stats',
  summary: 'Show success rate, wait and run times, and throughput',
  args: '',
  most: 0,
  flags: {
    range: { value: 'RANGE', help: `show a time series: ${Object.keys(RANGES).join(', ')}` },
    queue: { value: 'Q', help: 'with --range: only this queue' },
    name: { value: 'NAME', help: 'with --range: only jobs with this name' },
  },
  prints: {
    object: 'Stats',
    fields: ['range', 'step_ms', 'from', 'to', 'queue', 'name', 'data_from', 'points', 'total', 'names'],
  },
  examples: ['queuectl stats', 'queuectl stats --json', 'queuectl stats --range 24h --queue mail'],
  notes: [
    'Times cover the newest 10,000 attempts, throughput the last five minutes. With --range, they include deleted jobs, and percentiles are within 5% of the exact values.',
    'Wait times count first attempts only. Run times count attempts that completed or failed, but not those that were stopped, cancelled or lost.',
    'In a pipe, --range prints one line per point: time, enqueued, completed, failed, dead, cancelled, released, lost, then p50 and p95 of wait and run time in milliseconds.',
  ],
  async run(context, input) {
    const { io } = context;
    const range = readRangeFlag(input);
    if (range !== null) {
      const options = { queue: input.one('queue'), name: input.one('name'), names: true };
      printSeries(io, await statsSeries(await context.app(), range, options));
      return 0;
    }
    const result = await stats(await context.app());
    if (io.json) {
      io.out(`${jsonText(io, result)}\n`);
      return 0;
    }
    const times = (of: typeof result.wait_ms): string =>
      of === null ? '-' : [of.p50, of.p95, of.p99].map(formatDuration).join(' / ');
    const count = io.tty ? formatCount : String;
    const rows: [string, string][] = [
      ...STATES.map((state): [string, string] => [state, count(result.jobs[state])]),
      ['success rate', result.success_rate === null ? '-' : formatPercent(result.success_rate)],
      ['wait p50 / p95 / p99', times(result.wait_ms)],
      ['run p50 / p95 / p99', times(result.run_ms)],
      ['attempts per minute', String(result.throughput_per_minute)],
    ];
    for (const [name, value] of rows) io.out(io.tty ? `${pad(name, 22)}${value}\n` : `${name}\t${value}\n`);
    return 0;
  },
});

function readRangeFlag(input: Input): Range | null {
  const range = input.one('range');
  if (range === undefined) {
    if (input.has('queue') || input.has('name'))
      throw new QueueError(
        'usage',
        '--queue and --name require --range',
        'queuectl stats --range 24h --queue Q',
      );
    return null;
  }
  if (!Object.hasOwn(RANGES, range))
    throw new QueueError(
      'invalid-value',
      `--range must be one of ${Object.keys(RANGES).join(', ')}, not '${range}'`,
    );
  return range as Range;
}
