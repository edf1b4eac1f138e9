/**
 * Writes the table of figures in docs/guarantees.md from the results of `npm run test:faults`. Further result files can be
 * given as arguments. The table is never edited by hand.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { formatCount } from '../test/faults/fault.ts';
import type { FaultResult } from '../test/faults/main.ts';

const PAGE = 'docs/guarantees.md';
const RESULTS = 'test/faults/results.json';
const [BEGIN, END] = ['<!-- figures -->', '<!-- end of figures -->'];

const files = [RESULTS, ...process.argv.slice(2)];
const results = files.flatMap((file): FaultResult[] => JSON.parse(readFileSync(file, 'utf8')));
const rows = results.map(({ test, title, jobs, faults, result, seed, commit }) => {
  const [outcome, ...details] = result.split('; ');
  return `| ${test} | ${title} | ${formatCount(jobs)} | ${formatCount(faults)} | ${outcome} | ${details.join('; ')} | ${seed} | ${commit} |`;
});
const table = [
  '| Test | Fault | Jobs | Faults injected | Result | Details | Seed | Commit |',
  '|---|---|---:|---:|---|---|---|---|',
  ...rows,
];

const page = readFileSync(PAGE, 'utf8');
const [before, rest] = page.split(BEGIN);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined)
  throw new Error(`${PAGE} has no '${BEGIN}' and '${END}' around the table of figures`);
writeFileSync(PAGE, `${before}${BEGIN}\n${table.join('\n')}\n${END}${after}`);
