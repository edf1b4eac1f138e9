import { metricsSnapshot } from '../../actions/metrics.ts';
import { VERSION } from '../../core/version.ts';
import { metricObjects, openMetrics } from '../../observe/metrics.ts';
import { defineCommand } from '../command.ts';
import { replaceFile } from '../replace-file.ts';

export default defineCommand({
  name: 'metrics',
  summary: 'Print metrics in OpenMetrics format (for Prometheus)',
  args: '',
  most: 0,
  flags: { output: { value: 'FILE', short: 'o', help: 'write to this file, and replace it atomically' } },
  examples: [
    'queuectl metrics',
    'queuectl metrics --output /var/lib/node_exporter/queuectl.prom',
    'queuectl metrics --json',
  ],
  notes: [
    'The metrics are read from the database and cover all workers. With --json, they are printed as an array of metrics with samples. docs/metrics.md describes each metric.',
  ],
  async run({ io, app }, input) {
    const snapshot = await metricsSnapshot(await app(), VERSION);
    const text = io.json ? `${JSON.stringify(metricObjects(snapshot))}\n` : openMetrics(snapshot);
    const file = input.one('output');
    if (file === undefined) io.out(text);
    else replaceFile(file, text);
    return 0;
  },
});
