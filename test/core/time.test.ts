import { describe, expect, test } from 'bun:test';
import { parseTime, toIso } from '../../src/core/time.ts';
import { caught } from '../support/caught.ts';

const NOW = Date.UTC(2030, 0, 15, 12);
const at = (text: string) => toIso(parseTime(text, 'run_at', NOW));

describe('a time with its time zone', () => {
  test.each([
    ['2030-01-31T09:00:00Z', '2030-01-31T09:00:00.000Z'],
    ['2030-01-31T09:00:00.125z', '2030-01-31T09:00:00.125Z'],
    ['2030-01-31 09:00Z', '2030-01-31T09:00:00.000Z'],
    ['2030-01-31T09:00:00+02:00', '2030-01-31T07:00:00.000Z'],
    ['2030-01-31T09:00:00-0530', '2030-01-31T14:30:00.000Z'],
    ['2030-12-31T23:30:00-01:00', '2031-01-01T00:30:00.000Z'],
    ['2030-01-31T09:00:00.123456789Z', '2030-01-31T09:00:00.123Z'],
    ['2028-02-29T00:00Z', '2028-02-29T00:00:00.000Z'],
    ['2030-01-31Z', '2030-01-31T00:00:00.000Z'],
    [' 2030-01-31T09:00Z ', '2030-01-31T09:00:00.000Z'],
  ] as const)('%s', (text, iso) => {
    expect(at(text)).toBe(iso);
  });
});

describe('a time without a time zone is local', () => {
  const inZone = (zone: string, text: string) => {
    const before = process.env.TZ;
    process.env.TZ = zone;
    try {
      return at(text);
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  };

  test.each([
    ['UTC', '2030-01-31T09:00', '2030-01-31T09:00:00.000Z'],
    ['Asia/Tokyo', '2030-01-31T09:00', '2030-01-31T00:00:00.000Z'],
    ['America/New_York', '2030-07-01 09:00:30', '2030-07-01T13:00:30.000Z'],
    // JavaScript itself would read a bare date as UTC.
    ['Asia/Tokyo', '2030-01-31', '2030-01-30T15:00:00.000Z'],
  ] as const)('%s: %s', (zone, text, iso) => {
    expect(inZone(zone, text)).toBe(iso);
  });
});

describe('relative and epoch times', () => {
  test.each([
    ['+10m', '2030-01-15T12:10:00.000Z'],
    ['+1h30m', '2030-01-15T13:30:00.000Z'],
    ['+90', '2030-01-15T12:01:30.000Z'],
    ['+0', '2030-01-15T12:00:00.000Z'],
    ['1893456000', '2030-01-01T00:00:00.000Z'],
    ['1893456000123', '2030-01-01T00:00:00.123Z'],
    ['999999999', '2001-09-09T01:46:39.000Z'],
  ] as const)('%s', (text, iso) => {
    expect(at(text)).toBe(iso);
  });
});

describe('an invalid time is refused with its name', () => {
  test.each(
    [
      ...[
        '2030-02-31',
        '2030-02-31T09:00Z',
        '2029-02-29T00:00Z',
        '2030-13-01',
        '2030-00-10',
        '2030-04-31T10:00',
      ],
      ...[
        '2030-01-31T24:00Z',
        '2030-01-31T09:60Z',
        '2030-01-31T09:00:60Z',
        '2030-01-31T09:00+99:99',
        '2030-01-31T9:00',
      ],
      ...[
        'tomorrow',
        'now',
        '',
        ' ',
        '10m',
        '-10m',
        '60',
        '01/02/2030',
        '2030',
        '20300131',
        '1e12',
        '-1893456000',
      ],
      ...['18934560001234', '1893456000.5', '1969-12-31T00:00Z', '+99999999d', 'NaN', '2030-01-31T09:00Z; x'],
    ].map((text) => [text] as const),
  )('%j', (text) => {
    const error = caught(() => parseTime(text, 'run_at', NOW));
    expect(error.code).toBe('invalid-time');
    expect(error.message).toContain(`run_at: invalid time '${text}'`);
  });

  test.each([['+'], ['+soon'], ['++5m'], ['+-5m']] as const)('%j', (text) => {
    expect(caught(() => parseTime(text, 'run_at', NOW)).exitCode).toBe(2);
  });
});

test('toIso writes UTC with milliseconds, and null as null', () => {
  expect(toIso(0)).toBe('1970-01-01T00:00:00.000Z');
  expect(toIso(null)).toBeNull();
});
