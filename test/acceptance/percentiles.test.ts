import { expect } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { METRIC_BOUNDS_MS } from '../../src/core/rules/histogram.ts';
import { serve } from '../support/http.ts';
import { readOpenMetrics, sampleValue } from '../support/open-metrics.ts';
import { enqueue } from '../support/queuectl.ts';
import { seededRandom } from '../support/random.ts';
import { DISTRIBUTIONS, deviations, type Percentiles, storeAttempts } from '../support/samples.ts';
import { concurrentTest, sandboxTest as test } from '../support/sandbox-test.ts';

const SAMPLES_PER_DISTRIBUTION = 2500;

interface Times {
  wait_ms: Percentiles | null;
  run_ms: Percentiles | null;
}

interface SeriesJson {
  names: (Times & { name: string })[];
  points: (Times & { completed: number })[];
  total: Times;
}

test('percentiles of five distributions are within 5% in stats and the API, and the metrics are exact', async (box) => {
  mkdirSync(box.home);
  const random = seededRandom('percentiles');
  const allTimes: number[] = [];
  const site = await serve(box);
  for (const [distribution, make] of Object.entries(DISTRIBUTIONS)) {
    const times = make(random, SAMPLES_PER_DISTRIBUTION);
    allTimes.push(...times);
    await storeAttempts(join(box.home, 'queue.db'), distribution, times);
    const { names } = await box.json<SeriesJson>(['stats', '--range', '24h']);
    const series = names.find(({ name }) => name === distribution)!;
    expect([distribution, deviations(series.run_ms, times), deviations(series.wait_ms, times)]).toEqual([
      distribution,
      [],
      [],
    ]);
  }
  expect(allTimes.length).toBeGreaterThan(10_000);
  for (const range of ['1h', '24h', '30d', '90d']) {
    const printed = await box.json<SeriesJson>(['stats', '--range', range]);
    expect([range, deviations(printed.total.run_ms, allTimes)]).toEqual([range, []]);
    expect([range, deviations(printed.total.wait_ms, allTimes)]).toEqual([range, []]);
    const { json } = await site.call('GET', `/api/v1/stats/series?range=${range}&names=true`);
    expect(json.total).toEqual(printed.total);
    expect(json.names).toEqual(printed.names);
  }
  // Without a range, only the newest 10,000 attempts count, so one sample is left out.
  const plain = await box.json<Times>(['stats']);
  expect(deviations(plain.run_ms, allTimes.slice(-10_000))).toEqual([]);
  expect((await site.call('GET', '/api/v1/stats')).json.run_ms).toEqual(plain.run_ms);

  const families = readOpenMetrics((await box.run(['metrics'])).stdout);
  const value = (name: string, le?: string): number =>
    sampleValue(families, `queuectl_job_run_seconds_${name}`, le === undefined ? {} : { le });
  for (const bound of METRIC_BOUNDS_MS) {
    const le = Number.isInteger(bound / 1000) ? (bound / 1000).toFixed(1) : String(bound / 1000);
    expect([le, value('bucket', le)]).toEqual([le, allTimes.filter((ms) => ms <= bound).length]);
  }
  expect(value('count')).toBe(allTimes.length);
  expect(value('sum')).toBeCloseTo(allTimes.reduce((sum, ms) => sum + ms, 0) / 1000, 1);
});

concurrentTest(
  'stats has the same p99 with and without a range, and the percentiles of a single run are its duration',
  async (box) => {
    await box.run(['config', 'set', 'retry-delay', '50ms']);
    for (const name of ['one', 'two', 'three']) await enqueue(box, name, 'sleep 0.02', { name });
    await enqueue(box, 'retried', '[ "$QUEUECTL_ATTEMPT" -gt 1 ]', { name: 'retried', max_retries: 3 });
    await enqueue(box, 'late', 'sleep 30', { name: 'late', timeout_ms: 100, max_retries: 1 });
    await box.run(['worker', 'start', '--drain', '--quiet']);
    const plain = await box.json<Times>(['stats']);
    const { total, names } = await box.json<SeriesJson>(['stats', '--range', '1h']);
    expect(plain.run_ms!.p99).toBe(total.run_ms!.p99);
    expect(plain.wait_ms!.p99).toBe(total.wait_ms!.p99);
    for (const name of ['one', 'two', 'three']) {
      const { duration_ms } = await box.json<{ duration_ms: number }>(['show', name]);
      expect(names.find((one) => one.name === name)!.run_ms).toEqual({
        ...{ p50: duration_ms, p95: duration_ms, p99: duration_ms },
      });
    }
  },
);
