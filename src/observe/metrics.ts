import { STATES } from '../core/jobs/job.ts';
import { WAITING_REASONS } from '../core/jobs/waiting-reason.ts';
import { ATTEMPT_OUTCOMES, addFigures, type MetricsSnapshot } from '../core/rules/figures.ts';
import {
  addHistogram,
  countUpTo,
  emptyHistogram,
  type Histogram,
  METRIC_BOUNDS_MS,
  sampleCount,
} from '../core/rules/histogram.ts';
import { OTHER_LABEL } from '../core/rules/tiers.ts';

/** At most this many schedules are in the metrics. */
const MAX_SCHEDULES = 500;

type Labels = Record<string, string>;
type Sample = [suffix: string, labels: Labels, value: number];

interface Family {
  name: string;
  /** Null omits the TYPE line. As a counter, `queuectl_jobs_total` would belong to the family `queuectl_jobs`, which is a gauge. */
  type: 'gauge' | 'counter' | 'histogram' | null;
  help: string;
  samples: Sample[];
}

/** Returns the metrics as OpenMetrics text. Readers of the older Prometheus format accept it too: `# UNIT` and `# EOF` are comments to them. */
export function openMetrics(snapshot: MetricsSnapshot): string {
  return `${families(withFewQueues(snapshot)).map(familyText).join('')}# EOF\n`;
}

/** Returns the metrics as JSON objects. */
export function metricObjects(snapshot: MetricsSnapshot): object[] {
  return families(withFewQueues(snapshot)).map(({ name, type, help, samples }) => ({
    name,
    type: type ?? 'unknown',
    unit: unitOf(name),
    help,
    samples: samples.map(([suffix, labels, value]) => ({ name: name + suffix, labels, value })),
  }));
}

function families(snapshot: MetricsSnapshot): Family[] {
  return [...jobFamilies(snapshot), ...timeFamilies(snapshot), ...workerAndSystemFamilies(snapshot)];
}

function jobFamilies({ jobs, waiting, reasons, totals, now }: MetricsSnapshot): Family[] {
  const queues = waiting.map((one) => one.queue);
  const counts = new Map<string, number>();
  for (const { queue, state, jobs: count } of jobs)
    counts.set(`${state} ${queue}`, (counts.get(`${state} ${queue}`) ?? 0) + count);
  const byReason = new Map(reasons.map((one) => [one.queue, one.jobs]));
  return [
    gauge(
      'queuectl_jobs',
      'Jobs in the store, by queue and state.',
      queues.flatMap((queue) =>
        STATES.map((state) => sample({ queue, state }, counts.get(`${state} ${queue}`) ?? 0)),
      ),
    ),
    gauge(
      'queuectl_waiting_jobs',
      'Waiting jobs, by queue and by the first reason why they are not running.',
      queues.flatMap((queue) =>
        WAITING_REASONS.map((reason) => sample({ queue, reason }, byReason.get(queue)?.[reason] ?? 0)),
      ),
    ),
    gauge(
      'queuectl_oldest_waiting_seconds',
      'Time the oldest ready job has been waiting; 0 if none is waiting.',
      waiting.map(({ queue, since }) => sample({ queue }, Math.max(0, now - (since ?? now)) / 1000)),
    ),
    {
      // As a counter, its family name would be queuectl_jobs, which is the gauge above.
      type: null,
      name: 'queuectl_jobs_total',
      help: 'Jobs enqueued and finished, by queue, name and outcome.',
      samples: totals.flatMap(({ queue, name, enqueued, completed, dead, cancelled, dropped }) =>
        Object.entries({ enqueued, completed, dead, cancelled: cancelled + dropped }).map(
          ([outcome, count]) => sample({ queue, name, outcome }, count),
        ),
      ),
    },
    {
      type: 'counter',
      name: 'queuectl_attempts',
      help: 'Finished attempts, by outcome. Failed attempts are retried; released and lost attempts do not count against the job.',
      samples: ATTEMPT_OUTCOMES.map((outcome) => [
        '_total',
        { outcome },
        totals.reduce((sum, one) => sum + one[outcome], 0),
      ]),
    },
  ];
}

/** Returns histograms of wait times by queue, and of run times by queue and name. */
function timeFamilies({ totals }: MetricsSnapshot): Family[] {
  const waits = new Map<string, Histogram>();
  for (const { queue, wait } of totals) {
    const sum = waits.get(queue) ?? emptyHistogram();
    addHistogram(sum, wait);
    waits.set(queue, sum);
  }
  return [
    {
      type: 'histogram',
      name: 'queuectl_job_wait_seconds',
      help: 'Time from when a job was due until its first attempt started.',
      samples: [...waits].flatMap(([queue, wait]) => histogramSamples({ queue }, wait)),
    },
    {
      type: 'histogram',
      name: 'queuectl_job_run_seconds',
      help: 'Run time of attempts that completed or failed.',
      samples: totals.flatMap(({ queue, name, run }) => histogramSamples({ queue, name }, run)),
    },
  ];
}

function workerAndSystemFamilies(snapshot: MetricsSnapshot): Family[] {
  const { workers, slots, schedules, walBytes, version } = snapshot;
  const schedulesThatRan = schedules.filter((one) => one.lastAt !== null).slice(0, MAX_SCHEDULES);
  return [
    gauge(
      'queuectl_workers',
      'Active workers, by state.',
      workers.map(({ state, count }) => sample({ state }, count)),
    ),
    gauge(
      'queuectl_slots',
      'Slots that serve a queue (total), its running jobs (busy), and its concurrency limit, if any (limit).',
      slots.flatMap(({ queue, total, busy, limit }) => [
        sample({ queue, kind: 'total' }, total),
        sample({ queue, kind: 'busy' }, busy),
        ...(limit === null ? [] : [sample({ queue, kind: 'limit' }, limit)]),
      ]),
    ),
    gauge(
      'queuectl_schedule_last_run_timestamp_seconds',
      'Time of the last tick at which a schedule enqueued a job.',
      schedulesThatRan.map(({ name, lastAt }) => sample({ schedule: name }, lastAt! / 1000)),
    ),
    gauge(
      'queuectl_db_wal_bytes',
      'Size of the write-ahead log.',
      walBytes === null ? [] : [sample({}, walBytes)],
    ),
    gauge('queuectl_info', 'Version of queuectl.', [sample({ version }, 1)]),
  ];
}

const gauge = (name: string, help: string, samples: Sample[]): Family => ({
  name,
  type: 'gauge',
  help,
  samples,
});

const sample = (labels: Labels, value: number): Sample => ['', labels, value];

function histogramSamples(labels: Labels, histogram: Histogram): Sample[] {
  const bucket = (le: string, count: number): Sample => ['_bucket', { ...labels, le }, count];
  const total = sampleCount(histogram);
  return [
    ...METRIC_BOUNDS_MS.map((bound) => bucket(formatFloat(bound / 1000), countUpTo(histogram, bound))),
    bucket('+Inf', total),
    ['_count', labels, total],
    ['_sum', labels, histogram.sumMs / 1000],
  ];
}

/** Formats a number with a decimal point, as in `1.0`, so that bucket labels are the same in OpenMetrics and in the older format. */
function formatFloat(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

/** Returns the unit of a metric, which OpenMetrics requires as the last part of its name, or null if it has none. */
function unitOf(name: string): string | null {
  return /_(seconds|bytes)$/.exec(name)?.[1] ?? null;
}

function familyText({ name, type, help, samples }: Family): string {
  if (samples.length === 0) return '';
  const unit = unitOf(name);
  const head = [
    ...(type === null ? [] : [`# TYPE ${name} ${type}`]),
    ...(unit === null ? [] : [`# UNIT ${name} ${unit}`]),
    `# HELP ${name} ${help}`,
  ];
  const lines = samples.map(([suffix, labels, value]) => `${name}${suffix}${labelText(labels)} ${value}`);
  return `${[...head, ...lines].join('\n')}\n`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels);
  if (pairs.length === 0) return '';
  return `{${pairs.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.toWellFormed().replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** At most this many queues have labels of their own in the metrics. */
const MAX_LABELLED_QUEUES = 200;

/** Merges the queues beyond the limit into OTHER_LABEL, because a reader of the metrics keeps a time series for every label. */
function withFewQueues(snapshot: MetricsSnapshot): MetricsSnapshot {
  if (snapshot.waiting.length <= MAX_LABELLED_QUEUES) return snapshot;
  const labelled = new Set(snapshot.waiting.slice(0, MAX_LABELLED_QUEUES).map((one) => one.queue));
  const relabelled = <T extends { queue: string }>(rows: T[]): T[] =>
    rows.map((row) => (labelled.has(row.queue) ? row : { ...row, queue: OTHER_LABEL }));
  return {
    ...snapshot,
    jobs: relabelled(snapshot.jobs),
    waiting: mergeRows(relabelled(snapshot.waiting), (to, from) => {
      if (from.since !== null) to.since = Math.min(to.since ?? from.since, from.since);
    }),
    reasons: mergeRows(relabelled(snapshot.reasons), (to, from) => {
      for (const reason of WAITING_REASONS) to.jobs[reason] += from.jobs[reason];
    }),
    totals: mergeRows(relabelled(snapshot.totals), addFigures, ({ queue, name }) => `${queue},${name}`),
    // A slot may serve several of the merged queues, so a sum would count it more than once.
    slots: mergeRows(relabelled(snapshot.slots), (to, from) => {
      to.total = Math.max(to.total, from.total);
      to.busy += from.busy;
      to.limit = null;
    }),
  };
}

/** Merges the rows with the same key, which is the queue by default. `add` adds a row to another. */
function mergeRows<T extends { queue: string }>(
  rows: T[],
  add: (to: T, from: T) => void,
  keyOf = (row: T): string => row.queue,
): T[] {
  const sums = new Map<string, T>();
  for (const row of rows) {
    const sum = sums.get(keyOf(row));
    if (sum === undefined) sums.set(keyOf(row), structuredClone(row));
    else add(sum, row);
  }
  return [...sums.values()];
}
