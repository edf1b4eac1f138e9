import { describe, expect, test } from 'bun:test';
import { fireTimes, lastTimes, nextTimes } from '../../src/core/fire-times.ts';
import { toIso } from '../../src/core/time.ts';
import { offsetAt } from '../../src/core/zone.ts';

const MINUTE = 60_000;
const YEAR = Date.UTC(2030, 0, 1);
const NEXT_YEAR = Date.UTC(2031, 0, 1);

async function times(cron: string, zone: string, from: string, count: number): Promise<string[]> {
  const fires = await fireTimes({ kind: 'cron', cron, zone });
  return nextTimes(fires, Date.parse(from), count).map((at) => toIso(at).slice(5, 16));
}

describe('runs around a clock change', () => {
  const berlin = 'Europe/Berlin';
  const lordHowe = 'Australia/Lord_Howe';
  const rows: [what: string, cron: string, zone: string, from: string, expected: string[]][] = [
    [
      'a run at a skipped time starts once, an hour later',
      '30 2 * * *',
      berlin,
      '2030-03-30T12:00Z',
      ['03-31T01:30', '04-01T00:30'],
    ],
    [
      'runs at several skipped times start once each',
      '0,30 2 * * *',
      berlin,
      '2030-03-30T12:00Z',
      ['03-31T01:00', '03-31T01:30', '04-01T00:00'],
    ],
    [
      'a delayed run at the time of another run does not start twice',
      '30 1-4 * * *',
      berlin,
      '2030-03-30T12:00Z',
      ['03-31T00:30', '03-31T01:30', '03-31T02:30', '03-31T23:30'],
    ],
    [
      'delayed runs and runs of the next hour start in order',
      '*/20 2,3 * * *',
      berlin,
      '2030-03-31T00:59Z',
      ['03-31T01:00', '03-31T01:20', '03-31T01:40', '04-01T00:00'],
    ],
    [
      'every half hour continues through a skipped hour',
      '*/30 * * * *',
      berlin,
      '2030-03-31T00:29Z',
      ['03-31T00:30', '03-31T01:00', '03-31T01:30'],
    ],
    [
      'a run at a time that occurs twice starts only the first time',
      '30 2 * * *',
      berlin,
      '2030-10-26T12:00Z',
      ['10-27T00:30', '10-28T01:30'],
    ],
    [
      'runs in an hour that occurs twice start only the first time',
      '*/30 1-3 * * *',
      berlin,
      '2030-10-26T23:29Z',
      ['10-26T23:30', '10-27T00:00', '10-27T00:30', '10-27T02:00'],
    ],
    [
      'every half hour continues through a doubled hour',
      '*/30 * * * *',
      berlin,
      '2030-10-27T00:29Z',
      ['10-27T00:30', '10-27T01:00', '10-27T01:30', '10-27T02:00'],
    ],
    ['a skipped half hour', '15 2 * * *', lordHowe, '2030-10-05T04:00Z', ['10-05T15:45', '10-06T15:15']],
    ['a doubled half hour', '45 1 * * *', lordHowe, '2030-04-06T04:00Z', ['04-06T14:45', '04-07T15:15']],
    [
      'every quarter of an hour continues through a doubled half hour',
      '*/15 * * * *',
      lordHowe,
      '2030-04-06T14:44Z',
      ['04-06T14:45', '04-06T15:00', '04-06T15:15', '04-06T15:30'],
    ],
    [
      'a whole day is skipped (Samoa, 2011)',
      '0 12 * * *',
      'Pacific/Apia',
      '2011-12-29T00:00Z',
      ['12-29T22:00', '12-30T22:00', '12-31T22:00'],
    ],
  ];
  for (const [what, cron, zone, from, expected] of rows) {
    test(`${what}: ${cron}`, async () => {
      expect(await times(cron, zone, from, expected.length)).toEqual(expected);
    });
  }
});

/** Lists each expression with its meaning written by hand, on the wall clock as if it were UTC. */
const MEANINGS: [cron: string, everyHour: boolean, matches: (wall: Date) => boolean][] = [
  ['*/15 * * * *', true, (wall) => wall.getUTCMinutes() % 15 === 0],
  ['0 * * * sun', true, (wall) => wall.getUTCMinutes() === 0 && wall.getUTCDay() === 0],
  ['30 2 * * *', false, (wall) => wall.getUTCMinutes() === 30 && wall.getUTCHours() === 2],
  [
    '*/20 1-3 * * *',
    false,
    (wall) => wall.getUTCMinutes() % 20 === 0 && [1, 2, 3].includes(wall.getUTCHours()),
  ],
  [
    '10,40 */2 * * *',
    false,
    (wall) => [10, 40].includes(wall.getUTCMinutes()) && wall.getUTCHours() % 2 === 0,
  ],
  [
    '5 0 13 * fri',
    false,
    (wall) =>
      wall.getUTCMinutes() === 5 &&
      wall.getUTCHours() === 0 &&
      (wall.getUTCDate() === 13 || wall.getUTCDay() === 5),
  ],
];

/** Computes the runs of a year minute by minute, using only the offset of the time zone from the code under test. */
function expectedRuns(zone: string, everyHour: boolean, matches: (wall: Date) => boolean): number[] {
  const fires = new Set<number>();
  const shown = new Set<number>();
  let before = Number.NaN;
  let offset = 0;
  for (let at = YEAR - 60 * MINUTE; at < NEXT_YEAR; at += MINUTE) {
    // Clocks change at quarters of an hour only.
    if (at % (15 * MINUTE) === 0) offset = offsetAt(zone, at);
    const wall = at + offset;
    // A run in the skipped hour is delayed by the length of the jump.
    if (!everyHour && wall - before > MINUTE) {
      const jump = wall - before - MINUTE;
      for (let skipped = before + MINUTE; skipped < wall; skipped += MINUTE)
        if (matches(new Date(skipped))) fires.add(at + skipped + jump - wall);
    }
    if (matches(new Date(wall)) && (everyHour || !shown.has(wall))) fires.add(at);
    shown.add(wall);
    before = wall;
  }
  return [...fires].filter((at) => at > YEAR).sort((a, b) => a - b);
}

describe('a whole year, minute by minute', () => {
  for (const zone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC']) {
    test(zone, async () => {
      for (const [cron, everyHour, matches] of MEANINGS) {
        const fires = await fireTimes({ kind: 'cron', cron, zone });
        const found: number[] = [];
        for (let at = fires.after(YEAR); at !== null && at < NEXT_YEAR; at = fires.after(at)) found.push(at);
        expect({ cron, found }).toEqual({ cron, found: expectedRuns(zone, everyHour, matches) });
      }
    }, 60_000);
  }
});

describe('a fixed interval', () => {
  test('counts from its anchor, in both directions', async () => {
    const { after } = await fireTimes({ kind: 'every', everyMs: 90_000, anchorAt: YEAR });
    expect(after(YEAR)).toBe(YEAR + 90_000);
    expect(after(YEAR + 89_999)).toBe(YEAR + 90_000);
    expect(after(YEAR + 90_000)).toBe(YEAR + 180_000);
    expect(after(YEAR - 1)).toBe(YEAR);
    expect(after(YEAR - 90_001)).toBe(YEAR - 90_000);
  });
});

describe('the last runs', () => {
  test('are the newest ones in the range, oldest first, including both ends', async () => {
    const fires = await fireTimes({ kind: 'cron', cron: '0 * * * *', zone: 'UTC' });
    const hour = 60 * MINUTE;
    expect(lastTimes(fires, YEAR, YEAR + 2 * hour, 9)).toEqual([YEAR, YEAR + hour, YEAR + 2 * hour]);
    expect(lastTimes(fires, YEAR, YEAR + 2 * hour, 1)).toEqual([YEAR + 2 * hour]);
    expect(lastTimes(fires, YEAR + 1, YEAR + 2, 9)).toEqual([]);
  });

  test('of ten years of minutes are found quickly', async () => {
    for (const timing of [
      { kind: 'cron', cron: '* * * * *', zone: 'Europe/Berlin' } as const,
      { kind: 'every', everyMs: 1000, anchorAt: YEAR } as const,
    ]) {
      const fires = await fireTimes(timing);
      const start = performance.now();
      expect(lastTimes(fires, YEAR, Date.UTC(2040, 0, 1), 1000)).toHaveLength(1000);
      // Iterating over all of them would take minutes.
      expect(performance.now() - start).toBeLessThan(5000);
    }
  });
});
