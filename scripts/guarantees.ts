/**
 * Writes the table of figures in docs/guarantees.md from the results of `npm run test:faults`: other results may be
 * named as arguments and are taken besides. Nothing in that table is written by hand.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { FaultResult } from '../test/faults/main.ts';

const PAGE = 'docs/guarantees.md';
const RESULTS = 'test/faults/results.json';
const [BEGIN, END] = ['<!-- figures -->', '<!-- end of figures -->'];

const files = [RESULTS, ...process.argv.slice(2)];
const results = files.flatMap((file): FaultResult[] => JSON.parse(readFileSync(file, 'utf8')));
const rows = results.map(
  (one) =>
    `| ${one.test} | ${one.title} | ${count(one.jobs)} | ${count(one.faults)} | ${one.result} | ${one.seed} | ${one.commit} |`,
);
const table = [
  '| test | fault | jobs | faults | result | seed | commit |',
  '|---|---|---|---|---|---|---|',
  ...rows,
];

const page = readFileSync(PAGE, 'utf8');
const [before, rest] = page.split(BEGIN);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined) throw new Error(`${PAGE} has no place for the figures`);
writeFileSync(PAGE, `${before}${BEGIN}\n${table.join('\n')}\n${END}${after}`);

function count(number: number): string {
  return number.toLocaleString('en');
}
