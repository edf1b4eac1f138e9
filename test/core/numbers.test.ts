import { describe, expect, test } from 'bun:test';
import {
  checkNumber,
  formatBytes,
  formatCount,
  formatPercent,
  formatSize,
  parseNumber,
  parseSize,
} from '../../src/core/text/numbers.ts';
import { errorOf } from '../support/error-of.ts';

const WHOLE_RANGE = { min: -5, max: 1000, integer: true };
const FRACTION_RANGE = { min: 1, max: 10, integer: false };

describe('parseNumber', () => {
  test.each([
    ['0', WHOLE_RANGE, 0],
    ['1000', WHOLE_RANGE, 1000],
    ['-5', WHOLE_RANGE, -5],
    [' 7 ', WHOLE_RANGE, 7],
    ['1.5', FRACTION_RANGE, 1.5],
    ['10', FRACTION_RANGE, 10],
  ] as const)("accepts '%s'", (text, range, value) => {
    expect(parseNumber(text, 'x', range)).toBe(value);
  });

  const REFUSED = [
    '',
    ' ',
    '1e3',
    '0x10',
    '5 x',
    '1.5',
    '1,5',
    '+5',
    '--5',
    'NaN',
    'Infinity',
    '1_0',
    '5\n5',
    '-6',
    '1001',
    '9'.repeat(400),
  ];
  test.each(REFUSED.map((text) => [text] as const))('refuses %j and does not clamp it', (text) => {
    const error = errorOf(() => parseNumber(text, 'count', WHOLE_RANGE));
    expect(error.code).toBe('invalid-value');
    expect(error.message).toBe(`count must be a whole number from -5 to 1000, not '${text}'`);
  });

  test.each([['0.99'], ['10.01'], ['.5'], ['2.'], ['1e0']] as const)(
    'refuses %s where fractions are allowed',
    (text) => {
      expect(errorOf(() => parseNumber(text, 'base', FRACTION_RANGE)).message).toContain(
        'base must be a number from 1 to 10',
      );
    },
  );
});

describe('checkNumber', () => {
  test.each([[Number.NaN], [Number.POSITIVE_INFINITY], [0.5], [2 ** 53], [1001], [-6]] as const)(
    'refuses %p',
    (value) => {
      expect(errorOf(() => checkNumber(value, 'count', WHOLE_RANGE)).exitCode).toBe(2);
    },
  );

  test('accepts the limits themselves', () => {
    expect([-5, 1000].map((value) => checkNumber(value, 'count', WHOLE_RANGE))).toEqual([-5, 1000]);
  });
});

describe('sizes', () => {
  test.each([
    ['512', 512, '512'],
    ['64k', 65_536, '64K'],
    ['64 KiB', 65_536, '64K'],
    ['10M', 10_485_760, '10M'],
    ['10mb', 10_485_760, '10M'],
    ['1GiB', 1_073_741_824, '1G'],
    ['1.5k', 1536, '1536'],
    ['1t', 1024 ** 4, '1T'],
    ['0', 0, '0'],
  ] as const)("'%s' is %d bytes, written as %s", (text, bytes, shown) => {
    expect(parseSize(text, 'x')).toBe(bytes);
    expect(formatSize(bytes)).toBe(shown);
    expect(parseSize(shown, 'x')).toBe(bytes);
  });

  test.each([[''], ['k'], ['-1k'], ['1e3'], ['0x10'], ['10 apples'], ['1kk'], ['NaN']] as const)(
    '%j is refused',
    (text) => {
      const error = errorOf(() => parseSize(text, 'output-limit'));
      expect(error.code).toBe('invalid-value');
      expect(error.hint).toContain('64k');
    },
  );
});

test('sizes, counts and percentages are formatted for people', () => {
  const sizes = [0, 512, 1024, 1536, 10_239, 49_283_072, 5 * 1024 ** 4].map(formatBytes);
  expect(sizes).toEqual(['0 B', '512 B', '1 KiB', '1.5 KiB', '9.9 KiB', '47 MiB', '5 TiB']);
  expect([0, 999, 1234, 1_234_567].map(formatCount)).toEqual(['0', '999', '1,234', '1,234,567']);
  expect([0, 0.001, 0.594, 0.999, 1].map(formatPercent)).toEqual(['0%', '<1%', '59%', '99%', '100%']);
});
