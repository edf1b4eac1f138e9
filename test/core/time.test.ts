import { describe, expect, test } from 'bun:test';
import { isRelativeTime, parseTime, toIso } from '../../src/core/time/time.ts';
import { errorOf } from '../support/error-of.ts';

const NOW = Date.UTC(2030, 0, 15, 12);
const parsedIso = (text: string) => toIso(parseTime(text, 'run_at', NOW));

function inZone<T>(zone: string, run: () => T): T {
  const original = process.env.TZ;
  process.env.TZ = zone;
  try {
    return run();
  } finally {
    if (original === undefined) delete process.env.TZ;
    else process.env.TZ = original;
  }
}

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
  ] as const)('%s means %s', (text, iso) => {
    expect(parsedIso(text)).toBe(iso);
  });
});

describe('a time without a time zone is local', () => {
  test.each([
    ['UTC', '2030-01-31T09:00', '2030-01-31T09:00:00.000Z'],
    ['Asia/Tokyo', '2030-01-31T09:00', '2030-01-31T00:00:00.000Z'],
    ['America/New_York', '2030-07-01 09:00:30', '2030-07-01T13:00:30.000Z'],
    // JavaScript itself would read a bare date as UTC.
    ['Asia/Tokyo', '2030-01-31', '2030-01-30T15:00:00.000Z'],
  ] as const)('in %s, %s means %s', (zone, text, iso) => {
    expect(inZone(zone, () => parsedIso(text))).toBe(iso);
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
  ] as const)('%s means %s', (text, iso) => {
    expect(parsedIso(text)).toBe(iso);
  });
});

describe('local and relative times', () => {
  // 15 January 2030 is a Tuesday. The clock in New York shows 07:00.
  test.each([
    ['12:30', '2030-01-15T17:30:00.000Z'],
    ['06:59', '2030-01-16T11:59:00.000Z'],
    ['07:00', '2030-01-16T12:00:00.000Z'],
    ['2pm', '2030-01-15T19:00:00.000Z'],
    ['12am', '2030-01-16T05:00:00.000Z'],
    ['2:30pm', '2030-01-15T19:30:00.000Z'],
    ['tomorrow 2pm', '2030-01-16T19:00:00.000Z'],
    ['Friday 9AM', '2030-01-18T14:00:00.000Z'],
    ['tomorrow 09:00', '2030-01-16T14:00:00.000Z'],
    ['friday 18:00', '2030-01-18T23:00:00.000Z'],
    ['tuesday 06:00', '2030-01-22T11:00:00.000Z'],
    ['tuesday 08:00', '2030-01-15T13:00:00.000Z'],
    ['now', '2030-01-15T12:00:00.000Z'],
  ] as const)('looking forward, %s means %s', (text, iso) => {
    expect(inZone('America/New_York', () => parsedIso(text))).toBe(iso);
  });

  test.each([
    ['06:00', '2030-01-15T11:00:00.000Z'],
    ['08:00', '2030-01-14T13:00:00.000Z'],
    ['friday 18:00', '2030-01-11T23:00:00.000Z'],
    ['10m', '2030-01-15T11:50:00.000Z'],
  ] as const)('looking back, %s means %s', (text, iso) => {
    expect(inZone('America/New_York', () => toIso(parseTime(text, '--since', NOW, -1)))).toBe(iso);
  });

  const SKIPPED = 'does not exist, because the clocks are set forward on 2030-03-31';
  const TWICE = 'occurs twice, because the clocks are set back on 2030-10-27';
  test.each([
    ['2030-03-30T12:00Z', 'tomorrow 02:30', SKIPPED, 'use 2030-03-31T01:59 or 2030-03-31T03:00,'],
    ['2030-03-30T12:00Z', '02:30', SKIPPED, 'use 2030-03-31T01:59 or 2030-03-31T03:00,'],
    ['2030-03-01T12:00Z', '2030-03-31T02:30', SKIPPED, 'use 2030-03-31T01:59 or 2030-03-31T03:00,'],
    ['2030-10-26T12:00Z', 'sunday 2:30am', TWICE, '2030-10-27T02:30+02:00 or 2030-10-27T02:30+01:00'],
    ['2030-10-26T12:00Z', '2030-10-27T02:30:15', TWICE, '02:30:15+02:00 or 2030-10-27T02:30:15+01:00'],
  ] as const)('at %s in Berlin, %s is refused: it %s', (now, text, problem, hint) => {
    const refused = inZone('Europe/Berlin', () => errorOf(() => parseTime(text, 'run_at', Date.parse(now))));
    expect(refused.message).toBe(`run_at: '${text}' ${problem}`);
    expect(refused.hint).toContain(hint);
  });

  test.each([
    // Clocks are set forward at 01:00Z on 31 March, and back at 01:00Z on 27 October. Both are Sundays.
    ['2030-03-31T08:00Z', '02:30', 1, '2030-04-01T00:30:00.000Z'],
    ['2030-03-31T08:00Z', 'sunday 02:30', 1, '2030-04-07T00:30:00.000Z'],
    ['2030-10-27T10:00Z', '02:30', 1, '2030-10-28T01:30:00.000Z'],
    ['2030-10-27T10:00Z', 'sunday 02:30', 1, '2030-11-03T01:30:00.000Z'],
    // The first 02:30 is over, and the second one is still to come.
    ['2030-10-27T00:45Z', '02:30', 1, '2030-10-27T01:30:00.000Z'],
    ['2030-10-27T00:45Z', '02:30', -1, '2030-10-27T00:30:00.000Z'],
    // The skipped or repeated time is still to come.
    ['2030-03-31T00:15Z', '02:30', -1, '2030-03-30T01:30:00.000Z'],
    ['2030-10-27T00:15Z', '02:30', -1, '2030-10-26T00:30:00.000Z'],
  ] as const)('at %s in Berlin, %s in the direction %d is %s', (now, text, direction, iso) => {
    const parsed = (): number => parseTime(text, 'run_at', Date.parse(now), direction);
    expect(inZone('Europe/Berlin', () => toIso(parsed()))).toBe(iso);
  });

  test.each([
    ['Australia/Lord_Howe', '2030-04-07T01:45', '2030-04-07T01:45+11:00 or 2030-04-07T01:45+10:30'],
    ['Antarctica/Troll', '2030-10-27T02:00', '2030-10-27T02:00+02:00 or 2030-10-27T02:00+00:00'],
    ['America/New_York', '2030-11-03T01:30', '2030-11-03T01:30-04:00 or 2030-11-03T01:30-05:00'],
  ] as const)('in %s, %s is refused, because it occurs twice', (zone, text, hint) => {
    const refused = inZone(zone, () => errorOf(() => parseTime(text, 'run_at', NOW)));
    expect(refused.message).toContain('occurs twice');
    expect(refused.hint).toContain(hint);
    for (const reading of hint.split(' or ')) parseTime(reading, 'run_at', NOW);
  });

  test('an ISO time in the past is accepted', () => {
    expect(parsedIso('2020-01-31T09:00Z')).toBe('2020-01-31T09:00:00.000Z');
  });

  test.each([
    ['now', true],
    ['+10m', true],
    ['2pm', false],
    ['23:30', false],
    ['friday 18:00', false],
    ['2030-01-31T09:00Z', false],
    ['1893456000', false],
  ] as const)('%s is a distance from now: %p', (text, expected) => {
    expect(isRelativeTime(text)).toBe(expected);
  });

  test('a clock change before the given time does not move it', () => {
    const now = Date.parse('2030-03-30T12:00Z');
    const found = inZone('Europe/Berlin', () => toIso(parseTime('tomorrow 09:00', 'run_at', now)));
    expect(found).toBe('2030-03-31T07:00:00.000Z');
  });
});

describe('an invalid time', () => {
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
        'friday',
        '',
        ' ',
        '10x',
        '25:00',
        '9:5',
        '13pm',
        '0am',
        'tomorrow 9',
        'friday monday 9:00',
        'soon 9:00',
        'teatime',
        'noon',
        'fri 18:00',
        'friday at 18:00',
        'next friday 18:00',
        'yesterday 09:00',
        'tomorrow 18:00Z',
        '18:00Z',
        '2:30 pm',
        'in 10m',
        '10m',
        '10m ago',
        'now + 10m',
        'next 18:00',
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
  )('%j is refused with the name of the field', (text) => {
    const error = errorOf(() => parseTime(text, 'run_at', NOW));
    expect(error.code).toBe('invalid-time');
    expect(error.message).toContain(`run_at: invalid time '${text}'`);
    expect(error.hint).toContain("23:30, 2pm, 'tomorrow 09:00', 'friday 18:00', +10m, now");
  });

  test.each([['+'], ['+soon'], ['++5m'], ['+-5m']] as const)(
    '%j is refused as an invalid duration',
    (text) => {
      expect(errorOf(() => parseTime(text, 'run_at', NOW)).code).toBe('invalid-duration');
    },
  );
});

test('toIso writes UTC with milliseconds, and null as null', () => {
  expect(toIso(0)).toBe('1970-01-01T00:00:00.000Z');
  expect(toIso(null)).toBeNull();
});
