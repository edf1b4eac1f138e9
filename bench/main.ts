/**
 * bun bench/main.ts [--size N] [NAME…]: runs the benchmarks and prints a table. Writes the results of each benchmark to
 * bench/results/NAME.json, and those of the whole run to bench/results/latest.json.
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
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
import { peers } from './peers.ts';
import { postgres } from './postgres.ts';
import { profile } from './profile.ts';
import { prune } from './prune.ts';
import { type Row, table, writeResults } from './report.ts';
import { scale } from './scale.ts';
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
  profile,
  peers,
  postgres,
  scale,
};
/** These take many minutes or install packages, so they run only if they are named. */
const ONLY_BY_NAME = ['peers', 'postgres', 'scale'];
const RESULTS = join(import.meta.dirname, 'results');

/** Runs the benchmarks and writes the results of each to a file of its own. */
async function run(names: string[], size: number): Promise<Row[]> {
  const lab = openLab(size);
  const all: Row[] = [];
  try {
    for (const name of names) {
      process.stderr.write(`${name} …\n`);
      const loadBefore = loadavg()[0]!;
      const rows = await BENCHMARKS[name]!(lab);
      writeResults(join(RESULTS, `${name}.json`), rows, loadBefore);
      all.push(...rows);
    }
  } finally {
    lab.remove();
  }
  return all;
}

// Ctrl-C ends the measured child. Its failure then ends this process, which removes its directory.
process.on('SIGINT', () => {});

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { size: { type: 'string', default: '1' } },
});
const unknown = names.filter((name) => !(name in BENCHMARKS));
if (unknown.length > 0) {
  process.stderr.write(
    `unknown benchmark: ${unknown.join(', ')}. Use one of: ${Object.keys(BENCHMARKS).join(', ')}\n`,
  );
  process.exitCode = 2;
} else {
  const loadBefore = loadavg()[0]!;
  const usual = Object.keys(BENCHMARKS).filter((name) => !ONLY_BY_NAME.includes(name));
  const rows = await run(names.length > 0 ? names : usual, Number(values.size));
  writeResults(join(RESULTS, 'latest.json'), rows, loadBefore);
  process.stdout.write(
    `${table(rows)}load before ${loadBefore.toFixed(2)}, after ${loadavg()[0]!.toFixed(2)}\n`,
  );
}
