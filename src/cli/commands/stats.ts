import { stats } from '../../actions/stats.ts';
import { statsSeries } from '../../actions/stats-series.ts';
import { formatDuration } from '../../core/duration.ts';
import { invalidValue, usageError } from '../../core/errors.ts';
import { PERIODS, type Period } from '../../core/figures.ts';
import { STATES } from '../../core/job.ts';
import { formatCount, formatPercent } from '../../core/numbers.ts';
import { joinWithOr } from '../../core/words.ts';
import { defineCommand, type Input } from '../command.ts';
import { jsonText } from '../layout.ts';
import { printSeries } from '../stats-series.ts';
import { type Pair, printPairs } from '../table.ts';

export default defineCommand({
  name: 'stats',
  summary: 'Show success rate, wait and run times, and throughput',
  flags: {
    range: { value: 'RANGE', help: `show a time series for the last ${joinWithOr(Object.keys(PERIODS))}` },
    queue: { value: 'Q', help: 'with --range: include only this queue' },
    name: { value: 'NAME', help: 'with --range: include only jobs with this name' },
  },
  prints: {
    object: 'Stats',
    fields: ['range', 'step_ms', 'from', 'to', 'queue', 'name', 'data_from', 'points', 'total', 'names'],
  },
  examples: ['queuectl stats', 'queuectl stats --json', 'queuectl stats --range 24h --queue mail'],
  notes: [
    "'jobs completed' is the share of completed jobs among the completed and dead ones. Failed attempts of a job that completed later do not count.",
    'Wait and run times are computed from the newest 10,000 attempts, and throughput from the last five minutes. With --range, they include deleted jobs, and percentiles are within 5% of the exact values.',
    'Wait times count first attempts only. Run times count attempts that completed or failed, but not those that were stopped, cancelled or lost.',
    'In a pipe, --range prints one line per point in time. The columns are time, enqueued, completed, failed, dead, cancelled, released, lost, wait p50, wait p95, run p50 and run p95. Released attempts were stopped and put back in the queue, and lost attempts were interrupted by a crash. Wait and run times are in milliseconds.',
  ],
  async run({ io, app }, input) {
    const range = readRangeFlag(input);
    if (range !== null) {
      const options = { queue: input.one('queue'), name: input.one('name'), withNames: true };
      printSeries(io, await statsSeries(await app(), range, options));
      return;
    }
    const result = await stats(await app());
    if (io.json) {
      io.out(`${jsonText(io, result)}\n`);
      return;
    }
    const times = (ms: typeof result.wait_ms): string =>
      ms === null ? '-' : [ms.p50, ms.p95, ms.p99].map(formatDuration).join(' / ');
    const count = io.tty ? formatCount : String;
    printPairs(io, [
      ...STATES.map((state): Pair => [state, count(result.jobs[state])]),
      ['jobs completed', result.success_rate === null ? '-' : formatPercent(result.success_rate)],
      ['wait p50 / p95 / p99', times(result.wait_ms)],
      ['run p50 / p95 / p99', times(result.run_ms)],
      ['attempts per minute', String(result.throughput_per_minute)],
    ]);
  },
});

function readRangeFlag(input: Input): Period | null {
  const range = input.one('range');
  if (range === undefined) {
    if (input.has('queue') || input.has('name'))
      throw usageError(
        '--queue and --name require --range',
        'for example: queuectl stats --range 24h --queue mail',
      );
    return null;
  }
  if (!Object.hasOwn(PERIODS, range))
    throw invalidValue(`--range must be one of ${Object.keys(PERIODS).join(', ')}, not '${range}'`);
  return range as Period;
}
