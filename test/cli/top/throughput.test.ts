import { expect, test } from 'bun:test';
import { rateNow, rates, record, sparkline, type Throughput } from '../../../src/cli/top/throughput.ts';

const NOW = 1_000_000_500;
const ended = (secondsAgo: number, ok = true) => ({
  ...{ waitMs: 0, runMs: 0, ok },
  finishedAt: NOW - secondsAgo * 1000,
});

test('attempts that are recorded twice count once, and those that a later sample lacks still count', () => {
  const throughput: Throughput = new Map();
  record(throughput, [ended(3), ended(3), ended(2, false)], NOW);
  record(throughput, [ended(2, false), ended(3), ended(1)], NOW);
  expect(rates(throughput, 'completed', NOW, 4, 1)).toEqual([0, 2, 0, 1]);
  expect(rates(throughput, 'failed', NOW, 4, 1)).toEqual([0, 0, 1, 0]);
  expect(rateNow(throughput, 'completed', NOW)).toBe(0.3);
});

test('rates leave out the current second, and old seconds are dropped', () => {
  const throughput: Throughput = new Map();
  record(throughput, [ended(0), ended(1), ended(5000)], NOW);
  expect(rates(throughput, 'completed', NOW, 2, 1)).toEqual([0, 1]);
  record(throughput, [], NOW + 3_600_000);
  expect(throughput.size).toBe(0);
});

test('a column of several seconds shows their mean', () => {
  const throughput: Throughput = new Map();
  record(throughput, [ended(1), ended(2), ended(2), ended(4)], NOW);
  expect(rates(throughput, 'completed', NOW, 2, 2)).toEqual([0.5, 1.5]);
});

test('a sparkline shows zero as a dot and every other value as a bar', () => {
  expect(sparkline([0, 1, 500, 1000], false)).toBe('·▁▄█');
  expect(sparkline([0, 0], true)).toBe('..');
  expect(sparkline([0, 1, 8], true)).toBe('._#');
});
