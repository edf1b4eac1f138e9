import { describe, expect, test } from 'bun:test';
import parsePrometheus from 'parse-prometheus-text-format';
import { zeroReasonCounts } from '../../src/core/jobs/waiting-reason.ts';
import { emptyFigures, type MetricsSnapshot } from '../../src/core/rules/figures.ts';
import { openMetrics } from '../../src/observe/metrics.ts';
import { readOpenMetrics, sampleValue } from '../support/open-metrics.ts';
import { addTime } from '../support/samples.ts';

const NOW = 1_900_000_000_000;

function snapshot(overrides: Partial<MetricsSnapshot> = {}): MetricsSnapshot {
  const run = emptyFigures().run;
  for (const ms of [3, 5, 4_000_000]) addTime(run, ms);
  return {
    version: '1.2.3',
    now: NOW,
    jobs: [{ queue: 'q', state: 'pending', jobs: 7 }],
    waiting: [{ queue: 'q', since: NOW - 1500 }],
    reasons: [{ queue: 'q', jobs: { ...zeroReasonCounts(), held: 2, ready: 5 } }],
    totals: [{ queue: 'q', name: 'mail', ...emptyFigures(), completed: 3, cancelled: 1, dropped: 2, run }],
    workers: [{ state: 'idle', count: 2 }],
    slots: [{ queue: 'q', total: 4, busy: 1, limit: 3 }],
    schedules: [
      { name: 'nightly', lastAt: NOW - 500 },
      { name: 'never', lastAt: null },
    ],
    walBytes: 4096,
    ...overrides,
  };
}

describe('openMetrics', () => {
  test('prints each kind of figure under its name, with times in seconds', () => {
    const families = readOpenMetrics(openMetrics(snapshot()));
    const value = (name: string, labels = {}) => sampleValue(families, name, labels);
    expect(value('queuectl_jobs', { queue: 'q', state: 'pending' })).toBe(7);
    expect(value('queuectl_jobs', { queue: 'q', state: 'dead' })).toBe(0);
    expect(value('queuectl_waiting_jobs', { queue: 'q', reason: 'held' })).toBe(2);
    expect(value('queuectl_waiting_jobs', { queue: 'q', reason: 'blocked' })).toBe(0);
    expect(value('queuectl_oldest_waiting_seconds', { queue: 'q' })).toBe(1.5);
    expect(value('queuectl_jobs_total', { queue: 'q', name: 'mail', outcome: 'completed' })).toBe(3);
    expect(value('queuectl_jobs_total', { queue: 'q', name: 'mail', outcome: 'cancelled' })).toBe(3);
    expect(value('queuectl_attempts_total', { outcome: 'cancelled' })).toBe(1);
    expect(value('queuectl_job_run_seconds_bucket', { name: 'mail', le: '0.005' })).toBe(2);
    expect(value('queuectl_job_run_seconds_bucket', { name: 'mail', le: '3600.0' })).toBe(2);
    expect(value('queuectl_job_run_seconds_bucket', { name: 'mail', le: '+Inf' })).toBe(3);
    expect(value('queuectl_job_run_seconds_sum')).toBe(4000.008);
    expect(value('queuectl_job_wait_seconds_count', { queue: 'q' })).toBe(0);
    expect(value('queuectl_workers', { state: 'idle' })).toBe(2);
    expect(['total', 'busy', 'limit'].map((kind) => value('queuectl_slots', { queue: 'q', kind }))).toEqual([
      4, 1, 3,
    ]);
    expect(value('queuectl_schedule_last_run_timestamp_seconds', { schedule: 'nightly' })).toBe(1899999999.5);
    expect(families.get('queuectl_schedule_last_run_timestamp_seconds')!.samples).toHaveLength(1);
    expect(value('queuectl_db_wal_bytes')).toBe(4096);
    expect(value('queuectl_info', { version: '1.2.3' })).toBe(1);
  });

  test('escapes any text in a label, so that it can be read back', () => {
    for (const name of ['a"b', 'a\\', '\\n', 'a\nb', '{},=', 'naïve 🦆', '# EOF', 'x\ud800']) {
      const totals = [{ queue: 'q', name, ...emptyFigures(), completed: 5 }];
      const families = readOpenMetrics(openMetrics(snapshot({ totals })));
      const labels = { name: name.toWellFormed(), outcome: 'completed' };
      expect(sampleValue(families, 'queuectl_jobs_total', labels)).toBe(5);
    }
  });

  test('is well-formed for an empty store', () => {
    const nothing = {
      jobs: [],
      waiting: [],
      totals: [],
      workers: [],
      slots: [],
      schedules: [],
      walBytes: null,
    };
    expect([...readOpenMetrics(openMetrics(snapshot(nothing))).keys()]).toEqual([
      'queuectl_attempts',
      'queuectl_info',
    ]);
  });

  test('labels the first 200 queues and merges the others under the label other', () => {
    const queues = Array.from({ length: 1000 }, (_, i) => `q${String(i).padStart(4, '0')}`);
    const snapshotWithManyQueues = snapshot({
      jobs: queues.map((queue) => ({ queue, state: 'pending', jobs: 2 })),
      waiting: queues.map((queue, i) => ({ queue, since: i === 700 ? NOW - 9000 : null })),
      totals: queues.map((queue) => ({ queue, name: '', ...emptyFigures(), completed: 3 })),
      slots: queues.map((queue) => ({ queue, total: 4, busy: 1, limit: null })),
    });
    const text = openMetrics(snapshotWithManyQueues);
    const families = readOpenMetrics(text);
    expect(new Set(text.match(/queue="[^"]*"/g)).size).toBe(201);
    expect(sampleValue(families, 'queuectl_jobs', { state: 'pending' })).toBe(2000);
    expect(sampleValue(families, 'queuectl_jobs', { queue: 'other', state: 'pending' })).toBe(1600);
    expect(sampleValue(families, 'queuectl_jobs_total', { outcome: 'completed' })).toBe(3000);
    expect(sampleValue(families, 'queuectl_oldest_waiting_seconds', { queue: 'other' })).toBe(9);
    expect(sampleValue(families, 'queuectl_slots', { queue: 'other', kind: 'busy' })).toBe(800);
    expect(sampleValue(families, 'queuectl_slots', { queue: 'other', kind: 'total' })).toBe(4);
    expect(snapshotWithManyQueues.totals).toHaveLength(1000);
  });

  test("can be read by a parser of Prometheus' older format", () => {
    const families = parsePrometheus(openMetrics(snapshot()));
    const familyOf = (name: string) => families.find((family) => family.name === name);
    expect(familyOf('queuectl_jobs')).toMatchObject({ type: 'GAUGE' });
    expect(familyOf('queuectl_job_run_seconds')).toMatchObject({ type: 'HISTOGRAM' });
    // That parser drops the labels of a histogram, so they are not compared.
    expect(familyOf('queuectl_job_run_seconds')!.metrics[0]).toMatchObject({
      buckets: expect.objectContaining({ '0.005': '2', '+Inf': '3' }),
    });
    expect(familyOf('queuectl_attempts_total')!.metrics).toContainEqual({
      labels: { outcome: 'completed' },
      value: '3',
    });
  });
});
