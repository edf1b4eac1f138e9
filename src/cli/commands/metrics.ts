import { metricsSnapshot } from '../../actions/metrics.ts';
import { VERSION } from '../../core/version.ts';
import { metricObjects, openMetrics } from '../../observe/metrics.ts';
import type { Command } from '../command.ts';
import { replaceFile } from '../replace-file.ts';

export default {
  name: 'metrics',
  summary: 'Print metrics for Prometheus (OpenMetrics)',
  args: '',
  most: 0,
  flags: { output: { value: 'FILE', short: 'o', help: 'write them to a file, whole or not at all' } },
  examples: [
    'queuectl metrics',
    'queuectl metrics --output /var/lib/node_exporter/queuectl.prom',
    'queuectl metrics --json',
  ],
  notes: [
    'Figures are read from the store: those of all workers, whoever asks. With --json',
    'they come as an array of metrics with their samples. docs/metrics.md names them.',
  ],
  async run({ io, app }, input) {
    const snapshot = await metricsSnapshot(await app(), VERSION);
    const text = io.json ? `${JSON.stringify(metricObjects(snapshot))}\n` : openMetrics(snapshot);
    const file = input.one('output');
    if (file === undefined) io.out(text);
    else replaceFile(file, text);
    return 0;
  },
} satisfies Command as Command;
