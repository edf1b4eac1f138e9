import { expect } from 'bun:test';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import parsePrometheus from 'parse-prometheus-text-format';
import { startGatedJob } from '../support/gated-job.ts';
import { type Family, readOpenMetrics, sampleValue } from '../support/open-metrics.ts';
import { configure, enqueue, lines, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

const CONTRIB = resolve(import.meta.dir, '../../contrib');
const JOB_COUNT = 60;

/** Runs `metrics`, checks with two parsers that its output is valid, and returns the metric families. */
async function readMetrics(box: Sandbox): Promise<Map<string, Family>> {
  const { code, stdout, stderr } = await box.run(['metrics']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(parsePrometheus(stdout).length).toBeGreaterThan(5);
  return readOpenMetrics(stdout);
}

interface SeriesJson {
  points: Record<string, number>[];
  total: Record<string, number> & { run_ms: { p50: number } | null };
  names: { queue: string; name: string | null; completed: number }[];
}

const STATES = ['pending', 'processing', 'completed', 'failed', 'dead', 'cancelled'];

test('metrics, stats and stats --range agree with the lines that the jobs of three workers wrote', async (box) => {
  await configure(box, { 'backoff-base': '1' });
  const done = join(box.directory, 'done');
  const jobs = Array.from({ length: JOB_COUNT }, (_, i) => ({
    command: `echo ${i} >> ${done}; test $((${i} % 10)) -ne 9`,
    queue: i % 3 === 0 ? 'mail' : 'default',
    name: i % 2 === 0 ? 'even "one"' : 'odd',
    max_retries: 2,
  }));
  await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(jobs) });
  await enqueue(box, 'later', 'true', { delay: 3600, queue: 'mail' });
  await box.startWorkers('--count', '3');
  const stats = await until(async () => {
    const { jobs } = await box.json<{ jobs: Record<string, number> }>(['stats']);
    return jobs.completed! + jobs.dead! === JOB_COUNT && jobs;
  }, 'all jobs have ended');
  await box.run(['cancel', 'later']);

  const families = await readMetrics(box);
  const value = (name: string, labels: Record<string, string> = {}) => sampleValue(families, name, labels);
  const runs = lines(done).length;
  const dead = JOB_COUNT / 10;
  expect(runs).toBe(JOB_COUNT + dead);
  expect(stats).toMatchObject({ completed: JOB_COUNT - dead, dead });
  const status = await box.json<{ jobs: Record<string, number> }>(['status']);
  for (const state of STATES) expect(value('queuectl_jobs', { state })).toBe(status.jobs[state]!);
  const attempts = { completed: JOB_COUNT - dead, failed: dead, dead, cancelled: 0, released: 0, lost: 0 };
  for (const [outcome, count] of Object.entries(attempts))
    expect([outcome, value('queuectl_attempts_total', { outcome })]).toEqual([outcome, count]);
  const jobEvents = { enqueued: JOB_COUNT + 1, completed: JOB_COUNT - dead, dead, cancelled: 1 };
  for (const [outcome, count] of Object.entries(jobEvents))
    expect([outcome, value('queuectl_jobs_total', { outcome })]).toEqual([outcome, count]);
  expect(value('queuectl_jobs_total', { name: 'even "one"', outcome: 'completed' })).toBe(JOB_COUNT / 2);
  expect(value('queuectl_job_run_seconds_count')).toBe(runs);
  expect(value('queuectl_job_wait_seconds_count')).toBe(JOB_COUNT);
  expect(value('queuectl_workers')).toBe(3);
  expect(value('queuectl_slots', { queue: 'mail', kind: 'total' })).toBe(3);

  const series = await box.json<SeriesJson>(['stats', '--range', '1h']);
  expect(series.total).toMatchObject({ ...attempts, enqueued: JOB_COUNT + 1, dropped: 1 });
  expect(series.points).toHaveLength(60);
  expect(series.points.reduce((sum, point) => sum + point.completed!, 0)).toBe(JOB_COUNT - dead);
  expect(series.names.reduce((sum, one) => sum + one.completed, 0)).toBe(JOB_COUNT - dead);
  const mail = await box.json<SeriesJson>(['stats', '--range', '7d', '--queue', 'mail', '--name', 'odd']);
  expect(mail.points).toHaveLength(168);
  expect(mail.total).toMatchObject({
    completed: value('queuectl_jobs_total', { queue: 'mail', name: 'odd', outcome: 'completed' }),
  });
  for (const range of ['6h', '24h', '30d', '90d']) {
    const { total } = await box.json<SeriesJson>(['stats', '--range', range]);
    expect([range, total.completed]).toEqual([range, JOB_COUNT - dead]);
  }
});

test('metrics show a running job, a waiting job, a concurrency limit and a schedule', async (box) => {
  await box.run(['queue', 'set', 'default', '--concurrency', '1']);
  await box.startWorkers('--concurrency', '2', '--queue', 'default');
  const job = await startGatedJob(box, 'runs');
  await enqueue(box, 'waits', 'true');
  await enqueue(box, 'nobody', 'true', { queue: 'unserved' });
  await box.run(['schedule', 'add', 'nightly', '--cron', '0 3 * * *', 'secret-command']);
  await box.run(['schedule', 'run', 'nightly']);
  const families = await until(async () => {
    const seen = await readMetrics(box);
    return sampleValue(seen, 'queuectl_oldest_waiting_seconds', { queue: 'unserved' }) > 0.05 && seen;
  }, 'the job of the unserved queue has waited');
  const value = (name: string, labels: Record<string, string> = {}) => sampleValue(families, name, labels);
  const slots = (queue: string, kind: string) => value('queuectl_slots', { queue, kind });
  expect([slots('default', 'total'), slots('default', 'busy'), slots('default', 'limit')]).toEqual([2, 1, 1]);
  expect(slots('unserved', 'total')).toBe(0);
  expect(value('queuectl_workers', { state: 'busy' })).toBe(1);
  expect(value('queuectl_oldest_waiting_seconds', { queue: 'default' })).toBeGreaterThan(0);
  const lastRun = value('queuectl_schedule_last_run_timestamp_seconds', { schedule: 'nightly' });
  expect(Math.abs(lastRun - Date.now() / 1000)).toBeLessThan(600);
  expect((await box.run(['metrics'])).stdout).not.toContain('secret-command');
  job.release();
  await untilState(box, 'waits', 'completed');
});

test('metrics --output replaces the file with a new one, and --json prints the samples', async (box) => {
  await enqueue(box, 'a', 'true');
  const directory = join(box.directory, 'textfiles');
  await box.run(['metrics', '--output', join(directory, 'none.prom')]).then((result) => {
    expectRefusal(result, 2, /cannot write/);
  });
  const file = join(box.directory, 'queuectl.prom');
  writeFileSync(file, 'old');
  const before = statSync(file).ino;
  const written = await box.run(['metrics', '--output', file]);
  expect(written).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(statSync(file).ino).not.toBe(before);
  expect(
    sampleValue(readOpenMetrics(readFileSync(file, 'utf8')), 'queuectl_jobs', { state: 'pending' }),
  ).toBe(1);
  expect(readdirSync(box.directory).filter((name) => name.startsWith('queuectl.prom'))).toEqual([
    'queuectl.prom',
  ]);
  const data = await box.json<{ name: string; samples: { value: number }[] }[]>(['metrics']);
  expect(data.find((one) => one.name === 'queuectl_jobs')!.samples[0]).toEqual({
    ...{ name: 'queuectl_jobs', labels: { queue: 'default', state: 'pending' }, value: 1 },
  } as never);
});

test('stats --range draws charts on a terminal, prints a line per point in a pipe, and refuses invalid arguments', async (box) => {
  await enqueue(box, 'a', 'true', { name: 'mail' });
  await box.run(['worker', 'start', '--drain', '--quiet']);
  const piped = (await box.run(['stats', '--range', '1h'])).stdout.trimEnd().split('\n');
  expect(piped).toHaveLength(60);
  expect(piped.reduce((sum, line) => sum + Number(line.split('\t')[2]), 0)).toBe(1);
  expect(piped.every((line) => line.split('\t').length === 12)).toBe(true);
  const screen = onTerminal(box, ['stats', '--range', '24h'], 24, 100);
  await screen.closed;
  expect(screen.output()).toMatch(/last 24h \(data since [\dms ]+ ago\), 15m per column/);
  expect(screen.output()).toMatch(/completed +1 +█/);
  expect(screen.output()).toMatch(/default +mail +1/);
  expectRefusal(await box.run(['stats', '--range', '2h']), 2, /--range must be one of 1h, 6h/);
  expectRefusal(await box.run(['stats', '--queue', 'mail']), 2, /require --range/);
  expectRefusal(await box.run(['metrics', 'x']), 2, /metrics/);
  const none = await box.json<SeriesJson>(['stats', '--range', '1h', '--queue', 'nobody']);
  expect(none.total).toMatchObject({ enqueued: 0, run_ms: null });
});

test('metrics show the size of the write-ahead log while a worker has the store open', async (box) => {
  await box.startWorkers();
  await enqueue(box, 'a', 'true');
  await untilState(box, 'a', 'completed');
  expect(sampleValue(await readMetrics(box), 'queuectl_db_wal_bytes')).toBeGreaterThan(0);
});

test('every metric and label that the Grafana dashboard and the Prometheus alerts use exists', async (box) => {
  await enqueue(box, 'a', 'true');
  await box.run(['worker', 'start', '--drain', '--quiet']);
  await box.run(['schedule', 'add', 's', '--every', '1h', 'true']);
  await box.run(['schedule', 'run', 's']);
  const samples = [...(await readMetrics(box)).values()].flatMap((family) => family.samples);
  const labelsByMetric = new Map<string, Set<string>>();
  for (const { name, labels } of samples)
    labelsByMetric.set(name, new Set([...Object.keys(labels), 'instance', 'job']));
  for (const file of ['grafana-dashboard.json', 'prometheus-alerts.yml']) {
    const text = readFileSync(join(CONTRIB, file), 'utf8');
    const used = new Set(text.match(/\bqueuectl_[a-z_]+/g));
    expect(used.size).toBeGreaterThan(3);
    for (const name of used) expect([file, name, labelsByMetric.has(name)]).toEqual([file, name, true]);
    for (const [, name, labels] of text.matchAll(/\b(queuectl_[a-z_]+)\{([^}]*)\}/g))
      for (const [, label] of labels!.matchAll(/(\w+)\s*[=!]~?/g))
        expect(labelsByMetric.get(name!)).toContain(label!);
  }
  expect(() => JSON.parse(readFileSync(join(CONTRIB, 'grafana-dashboard.json'), 'utf8'))).not.toThrow();
});
