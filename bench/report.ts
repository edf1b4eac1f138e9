import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname } from 'node:path';
import { format, type Summary } from './numbers.ts';

/** A measurement. A reference or a limit also has the ratio of queuectl's figure to it. */
export interface Row {
  name: string;
  what: string;
  value: Summary | null;
  /** The reason for a missing value. */
  skipped?: string;
  ratio?: number;
  /** What the ratio compares with, if that is not clear from the row. */
  against?: string;
  /** The CPU time of all processes in milliseconds. In a table of rates it is that of one job. */
  cpuMs?: number;
  /** Like `ratio`, but of the CPU times. */
  cpuRatio?: number;
  /** How often a step of a profile happens for each job. */
  callsPerJob?: number;
  target?: { at: 'most' | 'least'; limit: number };
}

const HEADINGS = [
  'Name',
  'Measurement',
  'Median (p10–p90, p99 of times)',
  'queuectl ÷ this',
  'CPU (ratio)',
  'Target',
];

export function table(rows: Row[]): string {
  const lines = [HEADINGS, ...rows.map(cells)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const text = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column]!)).join('  '));
  return text.map((line) => `${line.trimEnd()}\n`).join('');
}

function cells(row: Row): string[] {
  const value = row.value === null ? `skipped: ${row.skipped ?? ''}` : format(row.value);
  const what =
    row.callsPerJob === undefined ? row.what : `${row.what}, ${row.callsPerJob.toFixed(2)} per job`;
  return [
    row.name,
    what,
    value,
    row.ratio === undefined ? '' : row.ratio.toFixed(2),
    cpuText(row),
    targetText(row),
  ];
}

function cpuText({ cpuMs, cpuRatio }: Row): string {
  if (cpuMs === undefined) return '';
  return `${cpuMs.toFixed(2)} ms${cpuRatio === undefined ? '' : ` (${cpuRatio.toFixed(2)})`}`;
}

function targetText({ ratio, target }: Row): string {
  if (target === undefined) return '';
  const sign = target.at === 'most' ? '≤' : '≥';
  if (ratio === undefined) return `${sign} ${target.limit}`;
  const met = target.at === 'most' ? ratio <= target.limit : ratio >= target.limit;
  return `${sign} ${target.limit} ${met ? 'met' : 'not met'}`;
}

/** The content of a file of results. */
export interface Results {
  at: string;
  machine: { cpus: number; model: string | undefined; loadBefore: number; loadAfter: number };
  rows: Row[];
}

/** Writes the results together with the load of the machine. */
export function writeResults(file: string, rows: Row[], loadBefore: number): void {
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, loadBefore, loadAfter: loadavg()[0]! };
  const results: Results = { at: new Date().toISOString(), machine, rows };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
}
