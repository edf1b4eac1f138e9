import { describe, expect, test } from 'bun:test';
import {
  countExcess,
  formatRetention,
  parseRetention,
  type Retention,
} from '../../src/core/rules/retention.ts';
import { errorOf } from '../support/error-of.ts';

const NONE: Retention = { ageMs: null, count: null, bytes: null };
const DAY = 86_400_000;

describe('retention limits', () => {
  test.each([
    ['none', null, 'none'],
    [' None ', null, 'none'],
    ['7d', { ...NONE, ageMs: 7 * DAY }, '7d'],
    ['90s', { ...NONE, ageMs: 90_000 }, '90s'],
    ['1h30m', { ...NONE, ageMs: 5_400_000 }, '5400s'],
    ['100000', { ...NONE, count: 100_000 }, '100000'],
    ['0', { ...NONE, count: 0 }, '0'],
    ['1G', { ...NONE, bytes: 2 ** 30 }, '1G'],
    ['1gb', { ...NONE, bytes: 2 ** 30 }, '1G'],
    ['500M', { ...NONE, bytes: 500 * 2 ** 20 }, '500M'],
    ['500mb', { ...NONE, bytes: 500 * 2 ** 20 }, '500M'],
    ['1.5k', { ...NONE, bytes: 1536 }, '1536B'],
    ['7d,100000', { ...NONE, ageMs: 7 * DAY, count: 100_000 }, '7d,100000'],
    ['1G, 7d ,5', { ageMs: 7 * DAY, count: 5, bytes: 2 ** 30 }, '7d,5,1G'],
  ])('%j is parsed as %j and written as %s', (text, keep, written) => {
    expect(parseRetention(text, 'keep')).toEqual(keep);
    expect(formatRetention(parseRetention(text, 'keep'))).toBe(written);
    expect(parseRetention(written, 'keep')).toEqual(keep);
  });

  test.each([
    '',
    ',',
    '7d,',
    'forever',
    '7 daze',
    '-1',
    '1.5',
    '0s',
    '4000d',
    '1e3',
    '7d,30d',
    '1G,2k',
    'none,7d',
    '9e99G',
  ])('%j is refused', (text) => {
    const error = errorOf(() => parseRetention(text, 'keep-completed'));
    expect([error.exitCode, error.message]).toEqual([2, expect.stringContaining('keep-completed')]);
  });

  test('500m is refused, because it could be minutes or megabytes', () => {
    const error = errorOf(() => parseRetention('500m', 'keep-dead'));
    expect(error.message).toContain('minutes or megabytes');
    expect(error.hint).toContain('500M');
  });
});

/** Returns jobs that finished at 1, 2, 3 … ms with these bytes of output. */
const jobs = (...bytes: number[]) => bytes.map((size, i) => ({ finishedAt: i + 1, bytes: size }));
const totalOf = (list: { bytes: number }[]) => ({
  jobs: list.length,
  bytes: list.reduce((sum, one) => sum + one.bytes, 0),
});
const excessOf = (keep: Partial<Retention>, list: ReturnType<typeof jobs>, now = 100): number =>
  countExcess({ ...NONE, ...keep }, totalOf(list), list, now);

describe('jobs to remove', () => {
  const five = jobs(0, 0, 0, 0, 0);
  test('are none without a limit', () => expect(excessOf({}, five)).toBe(0));
  test('are those older than the age', () => {
    expect(excessOf({ ageMs: 97 }, five)).toBe(2);
    expect(excessOf({ ageMs: 99 }, five)).toBe(0);
    expect(excessOf({ ageMs: 1 }, five)).toBe(5);
  });
  test('are the oldest ones beyond the maximum number', () => {
    expect(excessOf({ count: 2 }, five)).toBe(3);
    expect(excessOf({ count: 5 }, five)).toBe(0);
    expect(excessOf({ count: 0 }, five)).toBe(5);
  });
  test('are the oldest ones beyond the maximum size of output and rows', () => {
    expect(excessOf({ bytes: 10_000 }, jobs(9000, 9000, 9000))).toBe(2);
    expect(excessOf({ bytes: 4 * 300 }, five)).toBe(1);
    expect(excessOf({ bytes: 0 }, five)).toBe(5);
    // The limit also applies to a single job that is too large.
    expect(excessOf({ bytes: 1000 }, jobs(10, 5000))).toBe(2);
  });
  test('follow the strictest of several limits', () => {
    expect(excessOf({ ageMs: 98, count: 2 }, five)).toBe(3);
    expect(excessOf({ ageMs: 96, count: 4 }, five)).toBe(3);
  });
  test('are never more than the listed jobs', () => {
    expect(countExcess({ ...NONE, count: 10 }, { jobs: 1000, bytes: 0 }, five, 100)).toBe(5);
  });
});
