import { stats } from '../../actions/stats.ts';
import { formatDuration } from '../../core/duration.ts';
import { STATES } from '../../core/job.ts';
import type { Command } from '../command.ts';
import { pad } from '../text.ts';

export default {
  name: 'stats',
  summary: 'Success rate, wait and run times, throughput',
  args: '',
  most: 0,
  flags: {},
  examples: ['queuectl stats', 'queuectl stats --json'],
  notes: ['Times are of the newest 10,000 attempts; throughput is of the last five minutes.'],
  async run(context) {
    const { io } = context;
    const result = await stats(await context.app());
    if (io.json) {
      io.out(`${JSON.stringify(result)}\n`);
      return 0;
    }
    const times = (of: typeof result.wait_ms): string =>
      of === null ? '-' : [of.p50, of.p95, of.p99].map(formatDuration).join(' / ');
    const rows: [string, string][] = [
      ...STATES.map((state): [string, string] => [state, String(result.jobs[state])]),
      ['success rate', result.success_rate === null ? '-' : `${(result.success_rate * 100).toFixed(1)}%`],
      ['wait p50 / p95 / p99', times(result.wait_ms)],
      ['run p50 / p95 / p99', times(result.run_ms)],
      ['attempts a minute', String(result.throughput_per_minute)],
    ];
    for (const [name, value] of rows) io.out(io.tty ? `${pad(name, 22)}${value}\n` : `${name}\t${value}\n`);
    return 0;
  },
} satisfies Command as Command;
