/** bun bench/main.ts [NAME…]: runs the benchmarks, prints a table and writes bench/results/latest.json. */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { bulk } from './bulk.ts';
import { dashboard } from './dashboard.ts';
import { endings } from './endings.ts';
import { enqueue } from './enqueue.ts';
import { fanout } from './fanout.ts';
import { follow } from './follow.ts';
import { history } from './history.ts';
import { type Lab, openLab } from './lab.ts';
import { latency } from './latency.ts';
import { many } from './many.ts';
import { paused } from './paused.ts';
import { prune } from './prune.ts';
import { type Row, table, writeResults } from './report.ts';
import { throughput } from './throughput.ts';

const BENCHMARKS: Record<string, (lab: Lab) => Row[] | Promise<Row[]>> = {
  enqueue,
  bulk,
  throughput,
  latency,
  fanout,
  follow,
  history,
  prune,
  paused,
  endings,
  many,
  dashboard,
};
const RESULTS_FILE = join(import.meta.dirname, 'results/latest.json');

async function run(names: string[]): Promise<Row[]> {
  const lab = openLab();
  const rows: Row[] = [];
  try {
    for (const name of names) {
      process.stderr.write(`${name} …\n`);
      rows.push(...(await BENCHMARKS[name]!(lab)));
    }
  } finally {
    lab.remove();
  }
  return rows;
}

// Ctrl-C ends the measured child. Its failure then ends this process, which removes its directory.
process.on('SIGINT', () => {});

const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in BENCHMARKS));
if (unknown.length > 0) {
  process.stderr.write(
    `unknown benchmark: ${unknown.join(', ')}. Use one of: ${Object.keys(BENCHMARKS).join(', ')}\n`,
  );
  process.exitCode = 2;
} else {
  const loadBefore = loadavg()[0]!;
  const rows = await run(names.length > 0 ? names : Object.keys(BENCHMARKS));
  writeResults(RESULTS_FILE, rows, loadBefore);
  process.stdout.write(
    `${table(rows)}load before ${loadBefore.toFixed(2)}, after ${loadavg()[0]!.toFixed(2)}\n`,
  );
}
