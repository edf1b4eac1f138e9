/**
 * bun bench/document.ts: writes the results of the last run of `profile`, `peers`, `postgres` and `scale` into docs/performance.md, between
 * the comments that name them, and draws docs/peers.svg. A benchmark without results keeps its section.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bar, chart } from './chart.ts';
import type { Summary } from './numbers.ts';
import { STORES } from './postgres-lab.ts';
import type { Results, Row } from './report.ts';
import { SIZE } from './scale.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGE = join(ROOT, 'docs/performance.md');
const CHART = join(ROOT, 'docs/peers.svg');

const SECTIONS: Record<string, (rows: Row[]) => string> = {
  'profile-job': (rows) => jobTable(rows.filter((row) => row.name === 'job')),
  'profile-enqueue': (rows) => enqueueTable(rows.filter((row) => row.name === 'enqueue')),
  'peers-queued': (rows) => peerTable(rows.filter((row) => row.name === 'peers')),
  'peers-loop': (rows) => peerTable(rows.filter((row) => row.name === 'loop')),
  postgres: postgresTable,
  scale: scaleTable,
};

let page = readFileSync(PAGE, 'utf8');
for (const [section, toMarkdown] of Object.entries(SECTIONS)) {
  const results = read(section.split('-')[0]!);
  if (results === null) continue;
  const comments = new RegExp(`(<!-- bench ${section} -->\n)[\\s\\S]*?(<!-- end of bench ${section} -->)`);
  if (!comments.test(page)) throw new Error(`docs/performance.md has no section ${section}`);
  const text = `${toMarkdown(results.rows)}\n${machineLine(results)}\n`;
  page = page.replace(comments, (_, begin, end) => `${begin}\n${text}\n${end}`);
}
writeFileSync(PAGE, page);
const peers = read('peers');
if (peers !== null) writeFileSync(CHART, peerChart(peers.rows));

function read(name: string): Results | null {
  const file = join(import.meta.dirname, `results/${name}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

function machineLine({ at, machine }: Results): string {
  const load = [machine.loadBefore, machine.loadAfter].map((value) => value.toFixed(1)).join(' to ');
  return `Measured on ${at.slice(0, 10)} with ${machine.cpus} cores, at a load of ${load}.`;
}

function table(headings: string[], rows: string[][]): string {
  const lines = [headings, headings.map((_, i) => (i === 0 ? '---' : '---:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function amount({ unit, median }: Summary): string {
  if (unit === 'per job') return String(Number(median.toFixed(2)));
  const digits = unit === 'ms' && median < 100 ? (median < 1 ? 2 : 1) : 0;
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

/** Only the table of queued jobs has CPU times. */
function peerTable(rows: Row[]): string {
  const hasCpu = rows.some((row) => row.cpuMs !== undefined);
  const cpu = ({ cpuMs }: Row): string[] =>
    hasCpu ? [cpuMs === undefined ? '' : `${cpuMs.toFixed(1)}ms`] : [];
  const ratio = (row: Row): string => (row.ratio === undefined ? '' : row.ratio.toFixed(2));
  return table(
    ['Program', 'Jobs per second', 'queuectl ÷ this', ...(hasCpu ? ['CPU time per job'] : [])],
    rows.map((row) => [row.what, shown(row), ratio(row), ...cpu(row)]),
  );
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
    return ratio === undefined ? shown(row) : `${shown(row)} (${ratio}, CPU ${cpuRatio})`;
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
  return chart('Jobs per second of queuectl and other programs', '/s', [
    { title: 'Jobs that wait in the queue, 4 at a time', bars: bars('peers') },
    { title: 'Jobs that a shell loop adds one by one, 4 at a time', bars: bars('loop') },
  ]);
}
