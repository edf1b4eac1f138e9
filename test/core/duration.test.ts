import { describe, expect, test } from 'bun:test';
import {
  exactDuration,
  formatDuration,
  formatRelative,
  parseDuration,
} from '../../src/core/time/duration.ts';
import { errorOf } from '../support/error-of.ts';

describe('parseDuration', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1h30m', 5_400_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['1.5h', 5_400_000],
    ['1m500ms', 60_500],
    ['1h 30m', 5_400_000],
    ['2d 4h', 187_200_000],
    ['30', 30_000],
    ['0.25', 250],
    ['0', 0],
    ['007', 7000],
    [' 5M ', 300_000],
  ] as const)("'%s' is %d ms", (text, ms) => {
    expect(parseDuration(text, 'x')).toBe(ms);
  });

  test('a number without a unit has the default unit, and a written unit overrides it', () => {
    expect(parseDuration('250', 'x', 'ms')).toBe(250);
    expect(parseDuration('2s', 'x', 'ms')).toBe(2000);
  });

  const REFUSED = [
    '5m; x',
    '-1',
    '-5m',
    '+5m',
    '1e3',
    '0x10',
    '30m1h',
    '5s5s',
    '',
    ' ',
    'NaN',
    'Infinity',
    'm',
    '.5s',
    '1.',
    '5  m',
    '5 m',
    '10min',
    '10 minutes',
    '2w',
    '1 month',
    '1 m onth',
    '5 x',
    '1 constructor',
    '1h and 30m',
    'minutes',
    '10 10',
    '1h 30',
    '1 000s',
    '1h  30m',
    '1,5h',
    '1y',
    '٣',
    '5m\0',
  ];
  test.each(REFUSED.map((text) => [text] as const))('%j is refused with the name of the field', (text) => {
    const error = errorOf(() => parseDuration(text, 'timeout'));
    expect(error.code).toBe('invalid-duration');
    expect(error.message).toBe(`timeout: invalid duration '${text}'`);
  });
});

describe('formatDuration shows at most two units', () => {
  test.each([
    [0, '0ms'],
    [320, '320ms'],
    [999, '999ms'],
    [999.7, '1s'],
    [1000, '1s'],
    [3250, '3.3s'],
    [3200, '3.2s'],
    [9949, '9.9s'],
    [9951, '10s'],
    [10_000, '10s'],
    [54_400, '54s'],
    [64_000, '1m 4s'],
    [7_500_000, '2h 5m'],
    [59_999, '1m'],
    [60_000, '1m'],
    [252_000, '4m 12s'],
    [3_600_000, '1h'],
    [3_900_000, '1h 5m'],
    [86_399_000, '23h 59m'],
    [86_400_000, '1d'],
    [183_600_000, '2d 3h'],
    [400 * 86_400_000, '400d'],
  ] as const)('%d ms is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

test('formatRelative shows the distance from now', () => {
  const now = 1_000_000_000;
  expect(
    [now + 999, now - 61_499, now + 12_200, now + 5_399_990].map((at) => formatRelative(at, now)),
  ).toEqual([...['now', '1m 1s ago', 'in 12s', 'in 1h 30m']]);
});

describe('exactDuration can be parsed back to the same value', () => {
  test.each([
    [0, '0ms'],
    [1, '1ms'],
    [1500, '1500ms'],
    [5000, '5s'],
    [90_000, '90s'],
    [60_000, '1m'],
    [7_200_000, '2h'],
    [3650 * 86_400_000, '3650d'],
  ] as const)('%d ms is %s', (ms, text) => {
    expect(exactDuration(ms)).toBe(text);
    expect(parseDuration(text, 'x')).toBe(ms);
  });
});
