/**
 * bun bench/document.ts: writes the results of the last run of `profile`, `peers`, `postgres` and `scale` into docs/performance.md,
 * between the comments that name them, and draws docs/peers.svg. A benchmark without results keeps its section. Other load distorts
 * times, so results from a busy machine appear only as CPU times and counts, and without a chart.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bar, chart } from './chart.ts';
import { type Summary, summarize } from './numbers.ts';
import { STORES } from './postgres-lab.ts';
import type { Results, Row } from './report.ts';
import { SIZE } from './scale.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGE = join(ROOT, 'docs/performance.md');
const CHART = join(ROOT, 'docs/peers.svg');
const CHART_TITLE = 'Jobs per second of queuectl and other programs';

/** A machine with a higher load average per core is busy. A benchmark alone causes about two. */
const BUSY_LOAD = 3;

interface Section {
  /** The benchmark, and the name of its rows that belong to the section. */
  benchmark: string;
  rows: string;
  toMarkdown: (rows: Row[]) => string;
}

const SECTIONS: Record<string, Section> = {
  'profile-job': { benchmark: 'profile', rows: 'job', toMarkdown: jobTable },
  'profile-enqueue': { benchmark: 'profile', rows: 'enqueue', toMarkdown: enqueueTable },
  'peers-queued': { benchmark: 'peers', rows: 'peers', toMarkdown: peerTable },
  'peers-loop': { benchmark: 'peers', rows: 'loop', toMarkdown: peerTable },
  postgres: { benchmark: 'postgres', rows: 'P8', toMarkdown: postgresTable },
  scale: { benchmark: 'scale', rows: 'scale', toMarkdown: scaleTable },
};

/** The pages that show the chart, and its path from there. */
const CHART_LINKS = { 'docs/performance.md': 'peers.svg', 'README.md': 'docs/peers.svg' };

for (const [section, { benchmark, rows: name, toMarkdown }] of Object.entries(SECTIONS)) {
  const results = read(benchmark);
  if (results === null) continue;
  const ownRows = results.rows.filter((row) => row.name === name);
  const rows = isBusy(results) ? ownRows.flatMap(withoutTimes) : ownRows;
  if (rows.length > 0) replaceSection(PAGE, section, `${toMarkdown(rows)}\n${machineLine(results)}`);
}
const peers = read('peers');
if (peers !== null && !isBusy(peers)) {
  writeFileSync(CHART, peerChart(peers.rows));
  for (const [file, path] of Object.entries(CHART_LINKS))
    replaceSection(join(ROOT, file), 'peers-chart', `![${CHART_TITLE}](${path})`);
}

/** Replaces the text between the two comments of a section. */
function replaceSection(file: string, section: string, text: string): void {
  const comments = new RegExp(`(<!-- bench ${section} -->\n)[\\s\\S]*?(<!-- end of bench ${section} -->)`);
  const page = readFileSync(file, 'utf8');
  if (!comments.test(page)) throw new Error(`${file} has no section ${section}`);
  writeFileSync(
    file,
    page.replace(comments, (_, begin, end) => `${begin}\n${text}\n\n${end}`),
  );
}

function read(name: string): Results | null {
  const file = join(import.meta.dirname, `results/${name}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

function isBusy({ machine }: Results): boolean {
  return Math.max(machine.loadBefore, machine.loadAfter) > BUSY_LOAD * machine.cpus;
}

/** Replaces the time or rate of a row by its CPU time. Returns nothing if the row has only a time. */
function withoutTimes(row: Row): Row[] {
  const { cpuMs, cpuRatio, ratio: _, ...rest } = row;
  if (cpuMs !== undefined)
    return [{ ...rest, value: summarize([cpuMs], 'ms'), ...(cpuRatio !== undefined && { ratio: cpuRatio }) }];
  if (row.callsPerJob !== undefined) return [{ ...row, value: null, skipped: '' }];
  const isCount = row.value?.unit === 'per job' || row.value?.unit === 'MiB';
  return isCount || row.what.includes('CPU time') ? [row] : [];
}

function machineLine(results: Results): string {
  const { at, machine } = results;
  const load = [machine.loadBefore, machine.loadAfter].map((value) => value.toFixed(1)).join(' to ');
  const limit = isBusy(results) ? ' The machine was busy, so the table has only CPU times and counts.' : '';
  return `Measured on ${at.slice(0, 10)} with ${machine.cpus} cores, at a load of ${load}.${limit}`;
}

function table(headings: string[], rows: string[][]): string {
  const lines = [headings, headings.map((_, i) => (i === 0 ? '---' : '---:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function amount({ unit, median }: Summary): string {
  if (unit === 'per job') return String(Number(median.toFixed(2)));
  const digits = unit === 'ms' && median < 100 ? (median < 10 ? 2 : 1) : 0;
  const number = median.toLocaleString('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return unit === 'jobs/s' ? number : unit === 'MiB' ? `${number} MiB` : `${number}${unit}`;
}

function shown({ value, skipped }: Row): string {
  return value === null ? (skipped ?? '') : amount(value);
}

function jobTable(rows: Row[]): string {
  const calls = ({ callsPerJob }: Row): string => callsPerJob?.toFixed(2) ?? '';
  return table(
    ['Step', 'Calls per job', 'Per job'],
    rows.map((row) => [row.what, calls(row), shown(row)]),
  );
}

/** The rows of each store have the same steps, so each store becomes a column. */
function enqueueTable(rows: Row[]): string {
  const parts = rows.map((row) => ({
    ...row,
    store: row.what.split(': ')[0]!,
    step: row.what.split(': ')[1]!,
  }));
  const stores = [...new Set(parts.map((part) => part.store))];
  const steps = [...new Set(parts.map((part) => part.step))];
  const cell = (step: string, store: string): string =>
    shown(parts.find((part) => part.step === step && part.store === store)!);
  return table(
    ['Step', ...stores.map((store) => store[0]!.toUpperCase() + store.slice(1))],
    steps.map((step) => [step, ...stores.map((store) => cell(step, store))]),
  );
}

/** The rows of a busy machine have CPU times instead of rates. */
function peerTable(rows: Row[]): string {
  const isRate = rows.some((row) => row.value?.unit === 'jobs/s');
  const hasCpu = rows.some((row) => row.cpuMs !== undefined);
  const headings = [
    isRate ? 'Jobs per second' : 'CPU time per job',
    'queuectl ÷ this',
    ...(hasCpu ? ['CPU time per job'] : []),
  ];
  const cpu = ({ cpuMs }: Row): string => (cpuMs === undefined ? '' : `${cpuMs.toFixed(2)}ms`);
  const cells = (row: Row): string[] => [
    ...[row.what, shown(row), row.ratio?.toFixed(2) ?? ''],
    ...(hasCpu ? [cpu(row)] : []),
  ];
  return table(['Program', ...headings], rows.map(cells));
}

/** Each store becomes a column. The ratio and the target are those of PostgreSQL, in the first column. */
function postgresTable(rows: Row[]): string {
  const cell = (what: string, store: string): string => {
    const row = rows.find((one) => one.what === `${what}: ${store}`);
    if (row === undefined || row.value === null) return row?.skipped ?? '';
    const unit = row.value.unit === 'jobs/s' ? ' jobs/s' : '';
    const cpu = row.cpuMs === undefined ? '' : ` (${row.cpuMs.toFixed(1)}ms of CPU time per job)`;
    return `${amount(row.value)}${unit}${cpu}`;
  };
  const compared = (what: string): string => {
    const row = rows.find((one) => one.what === `${what}: ${STORES[0]}`);
    if (row?.ratio === undefined) return '';
    const target = row.target && `, target at ${row.target.at} ${row.target.limit}`;
    const onBun = rows.find((one) => one.what === `${what}: ${STORES[3]}`)?.ratio;
    const more = onBun === undefined ? '' : `; ${onBun.toFixed(2)} times ${STORES[3]}`;
    return `${row.ratio.toFixed(2)} times ${row.against}${target ?? ''}${more}`;
  };
  return table(
    ['', ...STORES, `${STORES[0]} compared`],
    [...new Set(rows.map((row) => row.what.split(': ')[0]!))].map((what) => [
      what,
      ...STORES.map((store) => cell(what, store)),
      compared(what),
    ]),
  );
}

/** Each store becomes a column, with the ratio to the first store. */
function scaleTable(rows: Row[]): string {
  const parts = rows.map((row) => ({
    ...row,
    what: row.what.split(': ')[0]!,
    store: row.what.split(': ')[1]!,
  }));
  // Every store has a size, in the order of the columns.
  const stores = parts.filter((part) => part.what === SIZE).map((part) => part.store);
  const cell = (what: string, store: string): string => {
    const row = parts.find((part) => part.what === what && part.store === store);
    if (row === undefined) return '';
    const [ratio, cpuRatio] = [row.ratio, row.cpuRatio].map((value) => value?.toFixed(2));
    if (ratio === undefined) return shown(row);
    return `${shown(row)} (${ratio}${cpuRatio === undefined ? '' : `, CPU ${cpuRatio}`})`;
  };
  return table(
    ['', ...stores.map((store) => store[0]!.toUpperCase() + store.slice(1))],
    [...new Set(parts.map((part) => part.what))].map((what) => [
      what,
      ...stores.map((store) => cell(what, store)),
    ]),
  );
}

function peerChart(rows: Row[]): string {
  const bars = (name: string): Bar[] =>
    rows.flatMap(({ name: own, what, value }) =>
      own === name && value !== null
        ? [{ label: what, value: value.median, isOwn: what.startsWith('queuectl') }]
        : [],
    );
  return chart(CHART_TITLE, '/s', [
    { title: 'Jobs that wait in the queue, 4 at a time', bars: bars('peers') },
    { title: 'Jobs that a shell loop adds one by one, 4 at a time', bars: bars('loop') },
  ]);
}
