import type { App } from '../../actions/app.ts';
import {
  metricsSnapshot,
  stats as readStats,
  status as readStatus,
  type Status,
  statsSeries,
} from '../../actions/stats.ts';
import { invalidValue, QueueError, usageError } from '../../core/errors.ts';
import { STATES } from '../../core/jobs/job.ts';
import { reasonText, WAITING_REASONS, type WaitingReason } from '../../core/jobs/waiting-reason.ts';
import { PERIODS, type Period } from '../../core/rules/figures.ts';
import { formatCount, formatPercent } from '../../core/text/numbers.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { joinWithOr } from '../../core/text/words.ts';
import { exactDuration, formatDuration } from '../../core/time/duration.ts';
import { VERSION } from '../../core/version.ts';
import type { FiguresObject, SeriesObject } from '../../core/wire/wire.ts';
import { writeAtomically } from '../../files/write.ts';
import { metricObjects, openMetrics } from '../../observe/metrics.ts';
import { defineCommand, type Input } from '../frame/command.ts';
import type { Io } from '../frame/io.ts';
import { readWatch, WATCH_FLAG, type WatchedView, watch } from '../frame/watch.ts';
import { jsonText, printJson } from '../print/layout.ts';
import { TIME_FLAGS, timesFor } from '../print/print-list.ts';
import { type Column, type Pair, printPairs, printTable } from '../print/table.ts';
import { pad, paint, STATE_COLORS } from '../print/text.ts';
import { WORKER_LIST } from './worker.ts';

const status = defineCommand({
  name: 'status',
  summary: 'Show job counts and active workers',
  flags: { watch: WATCH_FLAG, ...TIME_FLAGS },
  prints: { fields: ['jobs', 'total', 'waiting_for', 'workers'] },
  examples: ['queuectl status', 'queuectl status --watch', 'queuectl status --json'],
  notes: [
    'Waiting jobs are counted by the first reason why they are not running. queuectl help filters describes the reasons, and queuectl list --waiting-for lists their jobs.',
  ],
  usageHint: ([first = '']) =>
    first.startsWith('-') ? undefined : `to show a job: queuectl show ${shellWord(first)}`,
  async run(context, input) {
    const everyMs = readWatch(input);
    const app = await context.app();
    if (everyMs !== null) return watch(context, everyMs, watchedStatus(app));
    print(context.io, await readStatus(app), app.clock.now());
    return 0;
  },
});

function print(io: Io, result: Status, now: number): undefined {
  if (io.json) return printJson(io, result);
  const width = Math.max(...Object.values(result.jobs).map((jobs) => formatCount(jobs).length));
  for (const state of STATES) {
    const jobs = formatCount(result.jobs[state]);
    const painted = (text: string): string => (io.color ? paint(text, STATE_COLORS[state]!) : text);
    if (!io.tty) io.out(`${painted(state)}\t${result.jobs[state]}\n`);
    else io.out(`${painted(pad(state, 10))}  ${jobs.padStart(width)}\n`);
  }
  if (io.tty) printReasons(io, result);
  if (io.tty)
    io.out(
      `\n${result.workers.length === 0 ? 'no active workers' : `active workers: ${formatCount(result.workers.length)}`}\n`,
    );
  else io.out(`workers\t${result.workers.length}\n`);
  printTable(io, WORKER_LIST.columns(timesFor(io, now)), result.workers);
  // Scripts read the lines by position, so the reasons, which were added later, come last.
  if (!io.tty)
    for (const reason of WAITING_REASONS) io.out(`waiting_for:${reason}\t${result.waiting_for[reason]}\n`);
  if (result.workers.length === 0 && result.jobs.pending > 0)
    io.note('to start a worker: queuectl worker start');
}

function printReasons(io: Io, { waiting_for: counts }: Status): void {
  const reasons = WAITING_REASONS.filter((reason) => counts[reason] > 0);
  const columns: Column<WaitingReason>[] = [
    { title: 'WAITING FOR', value: reasonText },
    { title: 'JOBS', value: (reason) => formatCount(counts[reason]), right: true },
  ];
  if (reasons.length > 0) io.out('\n');
  printTable(io, columns, reasons);
}

function watchedStatus(app: App): WatchedView {
  return {
    draw: async (io) => print(io, await readStatus(app), app.clock.now()),
    async items(io) {
      const result = await readStatus(app);
      if (!io.json) {
        const counts = [
          ...STATES.map((state) => [state, result.jobs[state]]),
          ['workers', result.workers.length],
        ];
        return counts.map(([name, count]) => ({ key: String(name), text: `${name}\t${count}` }));
      }
      // Heartbeats and reasons to wait change all the time, so they do not count as a change.
      const { waiting_for: _, ...comparedFields } = result;
      const workers = result.workers.map(({ last_heartbeat, ...worker }) => worker);
      return [
        { key: '', text: jsonText(io, result), compared: jsonText(io, { ...comparedFields, workers }) },
      ];
    },
  };
}

const stats = defineCommand({
  name: 'stats',
  summary: 'Show success rate, wait and run times, and throughput',
  flags: {
    range: { value: 'RANGE', help: `show a time series for the last ${joinWithOr(Object.keys(PERIODS))}` },
    queue: { value: 'Q', help: 'with --range: include only this queue' },
    name: { value: 'NAME', help: 'with --range: include only jobs with this name' },
  },
  prints: {
    object: 'Stats',
    fields: ['range', 'step_ms', 'from', 'to', 'queue', 'name', 'data_from', 'points', 'total', 'names'],
  },
  examples: ['queuectl stats', 'queuectl stats --json', 'queuectl stats --range 24h --queue mail'],
  notes: [
    "'jobs completed' is the share of completed jobs among the completed and dead ones. Failed attempts of a job that completed later do not count.",
    'Wait and run times are computed from the newest 10,000 attempts, and throughput from the last five minutes. With --range, they include deleted jobs, and percentiles are within 5% of the exact values.',
    'Wait times count first attempts only. Run times count attempts that completed or failed, but not those that were stopped, cancelled or lost.',
    'In a pipe, --range prints one line per point in time. The columns are time, enqueued, completed, failed, dead, cancelled, released, lost, wait p50, wait p95, run p50 and run p95. Released attempts were stopped and put back in the queue, and lost attempts were interrupted by a crash. Wait and run times are in milliseconds.',
  ],
  async run({ io, app }, input) {
    const range = readRangeFlag(input);
    if (range !== null) {
      const options = { queue: input.one('queue'), name: input.one('name'), withNames: true };
      printSeries(io, await statsSeries(await app(), range, options));
      return;
    }
    const result = await readStats(await app());
    if (io.json) return printJson(io, result);
    const times = (ms: typeof result.wait_ms): string =>
      ms === null ? '-' : [ms.p50, ms.p95, ms.p99].map(formatDuration).join(' / ');
    const count = io.tty ? formatCount : String;
    printPairs(io, [
      ...STATES.map((state): Pair => [state, count(result.jobs[state])]),
      ['jobs completed', result.success_rate === null ? '-' : formatPercent(result.success_rate)],
      ['wait p50 / p95 / p99', times(result.wait_ms)],
      ['run p50 / p95 / p99', times(result.run_ms)],
      ['attempts per minute', String(result.throughput_per_minute)],
    ]);
  },
});

function readRangeFlag(input: Input): Period | null {
  const range = input.one('range');
  if (range === undefined) {
    if (input.has('queue') || input.has('name'))
      throw usageError(
        '--queue and --name require --range',
        'for example: queuectl stats --range 24h --queue mail',
      );
    return null;
  }
  if (!Object.hasOwn(PERIODS, range))
    throw invalidValue(`--range must be one of ${Object.keys(PERIODS).join(', ')}, not '${range}'`);
  return range as Period;
}

const BARS = '▁▂▃▄▅▆▇█';
const NAME_WIDTH = 10;
const VALUE_WIDTH = 9;
/** A terminal shows this many job names with their figures. JSON has all of them. */
const SHOWN_NAMES = 10;
const COUNTED_EVENTS = ['enqueued', 'completed', 'failed', 'dead', 'cancelled'] as const;

function printSeries(io: Io, series: SeriesObject): void {
  if (io.json) printJson(io, series);
  else if (io.tty) draw(io, series);
  else
    for (const { at, ...point } of series.points) {
      const { wait_ms, run_ms, released, lost } = point;
      const times = [wait_ms?.p50, wait_ms?.p95, run_ms?.p50, run_ms?.p95].map((ms) => ms ?? '-');
      const counts = COUNTED_EVENTS.map((name) => countIn(point, name));
      io.out(`${[at, ...counts, released, lost, ...times].join('\t')}\n`);
    }
}

/** Returns the count of one kind of event. Jobs that were cancelled before they ran count as cancelled, too. */
function countIn(figures: FiguresObject, name: (typeof COUNTED_EVENTS)[number]): number {
  return name === 'cancelled' ? figures.cancelled + figures.dropped : figures[name];
}

function draw(io: Io, { range, step_ms, to, data_from, points: all, total, names }: SeriesObject): void {
  // Points before the first data would only be empty columns.
  const points = all.filter(({ at }) => data_from === null || at >= data_from);
  const room = Math.max(10, Math.min(points.length, io.width - NAME_WIDTH - VALUE_WIDTH));
  const perColumn = Math.ceil(points.length / room);
  const line = (name: string, values: number[], value: string): void =>
    io.out(`${pad(name, NAME_WIDTH)}${value.padStart(VALUE_WIDTH - 2)}  ${sparkline(values, perColumn)}\n`);
  const time = timesFor(io, Date.parse(to)).text(data_from === null ? null : Date.parse(data_from));
  const since = points.length < all.length ? ` (data since ${time})` : '';
  io.out(
    `last ${range}${since}, ${exactDuration(step_ms * perColumn)} per column; the last column is incomplete\n`,
  );
  for (const name of COUNTED_EVENTS) {
    const values = points.map((point) => countIn(point, name));
    line(name, values, formatCount(countIn(total, name)));
  }
  for (const name of ['wait', 'run'] as const) {
    const p95 = points.map((point) => point[`${name}_ms`]?.p95 ?? 0);
    line(`${name} p95`, p95, durationText(total[`${name}_ms`]?.p95));
  }
  if (names === null || names.length === 0) return;
  io.out('\n');
  printTable(
    io,
    [
      { title: 'QUEUE', value: (one) => one.queue },
      { title: 'NAME', value: (one) => one.name ?? '-' },
      { title: 'COMPLETED', value: (one) => formatCount(one.completed) },
      { title: 'FAILED', value: (one) => formatCount(one.failed) },
      { title: 'DEAD', value: (one) => formatCount(one.dead) },
      { title: 'WAIT P95', value: (one) => durationText(one.wait_ms?.p95) },
      { title: 'RUN P95', value: (one) => durationText(one.run_ms?.p95) },
    ],
    names.slice(0, SHOWN_NAMES),
  );
}

function durationText(ms: number | undefined): string {
  return ms === undefined ? '-' : formatDuration(ms);
}

/** Draws the values in columns. Each column shows the highest of `perColumn` values. */
function sparkline(values: number[], perColumn: number): string {
  const columns: number[] = [];
  for (let i = 0; i < values.length; i += perColumn)
    columns.push(Math.max(...values.slice(i, i + perColumn)));
  const top = Math.max(1, ...columns);
  return columns
    .map((value) => (value === 0 ? ' ' : BARS[Math.ceil((value / top) * BARS.length) - 1]))
    .join('');
}

const metrics = defineCommand({
  name: 'metrics',
  summary: 'Print metrics in OpenMetrics format (for Prometheus)',
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
  },
});

const REASONS: Record<string, string> = {
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'a part of its path is not a directory',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EROFS: 'read-only file system',
  ENOSPC: 'the disk is full',
};

/** Creates or replaces a file atomically. A reader sees the old text or the new text, never a part of it. */
function replaceFile(path: string, text: string): void {
  try {
    writeAtomically(path, text, { replace: true, mode: 0o644, sync: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new QueueError('no-such-file', `cannot write ${path}: ${REASONS[String(code)] ?? message}`);
  }
}

export default { status, stats, metrics };
