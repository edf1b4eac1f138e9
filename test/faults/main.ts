/**
 * Runs the faults in full: `npm run test:faults [-- --only F1,F4] [--seed N] [--out FILE]`. Prints a table and writes the
 * same figures as JSON to test/faults/results.json. Faults that were not run keep their figures. scripts/guarantees.ts makes
 * the table in docs/guarantees.md from that file. A partial run (`--scale N`, and for F2 `--points claim,swap`) is written
 * only to the file given by `--out`. Progress goes to stderr every 30 seconds.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FAULTS } from './catalogue.ts';
import { crashPointsNamed } from './f02-crash-points.ts';
import type { Fault, Figures } from './fault.ts';
import { progressText, startProgress } from './progress.ts';

export interface FaultResult {
  test: string;
  title: string;
  jobs: number;
  faults: number;
  result: string;
  seed: number;
  commit: string;
  seconds: number;
}

const PROGRESS_MS = 30_000;

const text = { type: 'string' } as const;
const options = { only: text, seed: text, scale: text, points: text, out: text };
const { values } = parseArgs({ options });
const isFullRun = values.scale === undefined && values.points === undefined;
const resultsFile = values.out ?? (isFullRun ? join(import.meta.dir, 'results.json') : null);
const only = values.only?.toUpperCase().split(',');
const chosen = FAULTS.filter(({ id }) => only === undefined || only.includes(id.toUpperCase())).map(
  (fault) =>
    fault.id === 'F2' && values.points !== undefined ? crashPointsNamed(values.points.split(',')) : fault,
);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();

/** Turns an error that ended a fault early into a violation, so that the other faults still run. */
function errorFigures(error: Error): Figures {
  return { jobs: 0, faults: 0, violations: [{ kind: 'error', what: error.message }] };
}

async function run(fault: Fault): Promise<FaultResult & { skipped: boolean }> {
  const about = { test: fault.id, title: fault.title, seed, commit };
  const whySkipped = (await fault.whySkipped?.()) ?? null;
  if (whySkipped !== null)
    return { ...about, jobs: 0, faults: 0, result: `skipped: ${whySkipped}`, seconds: 0, skipped: true };
  const start = performance.now();
  startProgress(0);
  const timer = setInterval(() => {
    const passed = Math.round((performance.now() - start) / 1000);
    process.stderr.write(`  ${fault.id}: ${progressText()} after ${passed} s\n`);
  }, PROGRESS_MS);
  const figures = await fault.run(Number(values.scale ?? fault.full), seed).catch(errorFigures);
  clearInterval(timer);
  const seconds = Math.round((performance.now() - start) / 1000);
  const { jobs, faults, violations, notes } = figures;
  for (const one of violations.slice(0, 20)) process.stdout.write(`  ${one.kind}: ${one.what}\n`);
  const byKind = Map.groupBy(violations, (one) => one.kind);
  const counted = [...byKind].map(([kind, all]) => `${all.length} ${kind}`).join(', ');
  const result = [counted === '' ? 'ok' : counted, ...(notes === undefined ? [] : [notes])].join('; ');
  return { ...about, jobs, faults, result, seconds, skipped: false };
}

const results: FaultResult[] =
  resultsFile !== null && existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : [];
let failed = 0;
let skipped = 0;
process.stdout.write(`seed ${seed}, commit ${commit}\n`);
for (const fault of chosen) {
  const { skipped: isSkipped, ...result } = await run(fault);
  if (isSkipped) skipped++;
  else if (!result.result.startsWith('ok')) failed++;
  const { test, title, jobs, faults, seconds } = result;
  process.stdout.write(
    `${test.padEnd(4)} ${title}: ${jobs} jobs, ${faults} faults, ${result.result} (${seconds} s)\n`,
  );
  const index = results.findIndex((one) => one.test === test);
  // A fault that this machine cannot run keeps the figures of a machine that could.
  if (isSkipped && index !== -1) continue;
  results.splice(index === -1 ? results.length : index, index === -1 ? 0 : 1, result);
  const order = FAULTS.map(({ id }) => id);
  results.sort((a, b) => order.indexOf(a.test) - order.indexOf(b.test));
  if (resultsFile !== null) writeFileSync(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
}
process.stdout.write(`${chosen.length - failed - skipped} held, ${failed} failed, ${skipped} skipped\n`);
process.exitCode = failed === 0 && chosen.length > 0 ? 0 : 1;
