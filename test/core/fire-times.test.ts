import { describe, expect, test } from 'bun:test';
import { fireTimes, lastTimes, nextTimes } from '../../src/core/schedules/fire-times.ts';
import { toIso } from '../../src/core/time/time.ts';
import { offsetAt } from '../../src/core/time/zone.ts';

const MINUTE_MS = 60_000;
const START = Date.UTC(2030, 0, 1);
const END = Date.UTC(2031, 0, 1);

async function nextRuns(cron: string, zone: string, from: string, count: number): Promise<string[]> {
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
    [
      'a run in a skipped half hour starts half an hour later',
      '15 2 * * *',
      lordHowe,
      '2030-10-05T04:00Z',
      ['10-05T15:45', '10-06T15:15'],
    ],
    [
      'a run in a doubled half hour starts only the first time',
      '45 1 * * *',
      lordHowe,
      '2030-04-06T04:00Z',
      ['04-06T14:45', '04-07T15:15'],
    ],
    [
      'every quarter of an hour continues through a doubled half hour',
      '*/15 * * * *',
      lordHowe,
      '2030-04-06T14:44Z',
      ['04-06T14:45', '04-06T15:00', '04-06T15:15', '04-06T15:30'],
    ],
    [
      'a run on a skipped day starts together with that of the next day (Samoa, 2011)',
      '0 12 * * *',
      'Pacific/Apia',
      '2011-12-29T00:00Z',
      ['12-29T22:00', '12-30T22:00', '12-31T22:00'],
    ],
  ];
  for (const [what, cron, zone, from, expected] of rows) {
    test(`${what}: ${cron}`, async () => {
      expect(await nextRuns(cron, zone, from, expected.length)).toEqual(expected);
    });
  }
});

/** Each expression with its meaning written by hand. The wall time is represented as if it were UTC. */
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
  const shownWalls = new Set<number>();
  let lastWall = Number.NaN;
  let offset = 0;
  for (let at = START - 60 * MINUTE_MS; at < END; at += MINUTE_MS) {
    // Clocks change at quarters of an hour only.
    if (at % (15 * MINUTE_MS) === 0) offset = offsetAt(zone, at);
    const wall = at + offset;
    // A run in the skipped hour is delayed by the length of the jump.
    if (!everyHour && wall - lastWall > MINUTE_MS) {
      const jump = wall - lastWall - MINUTE_MS;
      for (let skipped = lastWall + MINUTE_MS; skipped < wall; skipped += MINUTE_MS)
        if (matches(new Date(skipped))) fires.add(at + skipped + jump - wall);
    }
    if (matches(new Date(wall)) && (everyHour || !shownWalls.has(wall))) fires.add(at);
    shownWalls.add(wall);
    lastWall = wall;
  }
  return [...fires].filter((at) => at > START).sort((a, b) => a - b);
}

describe('the runs of a whole year', () => {
  for (const zone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC']) {
    test(`in ${zone} match those computed minute by minute`, async () => {
      for (const [cron, everyHour, matches] of MEANINGS) {
        const fires = await fireTimes({ kind: 'cron', cron, zone });
        const found: number[] = [];
        for (let at = fires.after(START); at !== null && at < END; at = fires.after(at)) found.push(at);
        expect({ cron, found }).toEqual({ cron, found: expectedRuns(zone, everyHour, matches) });
      }
    }, 60_000);
  }
});

describe('a fixed interval', () => {
  test('counts from its anchor, in both directions', async () => {
    const { after } = await fireTimes({ kind: 'every', everyMs: 90_000, anchorAt: START });
    expect(after(START)).toBe(START + 90_000);
    expect(after(START + 89_999)).toBe(START + 90_000);
    expect(after(START + 90_000)).toBe(START + 180_000);
    expect(after(START - 1)).toBe(START);
    expect(after(START - 90_001)).toBe(START - 90_000);
  });
});

describe('the last runs', () => {
  test('are the newest ones in the range, oldest first, including both ends', async () => {
    const fires = await fireTimes({ kind: 'cron', cron: '0 * * * *', zone: 'UTC' });
    const hour = 60 * MINUTE_MS;
    expect(lastTimes(fires, START, START + 2 * hour, 9)).toEqual([START, START + hour, START + 2 * hour]);
    expect(lastTimes(fires, START, START + 2 * hour, 1)).toEqual([START + 2 * hour]);
    expect(lastTimes(fires, START + 1, START + 2, 9)).toEqual([]);
  });

  test('of an interval below a second do not exist', async () => {
    for (const everyMs of [0, 1, 999])
      expect((await fireTimes({ kind: 'every', everyMs, anchorAt: START })).after(START)).toBeNull();
  });

  test('of ten years are found within five seconds', async () => {
    for (const timing of [
      { kind: 'cron', cron: '* * * * *', zone: 'Europe/Berlin' } as const,
      { kind: 'every', everyMs: 1000, anchorAt: START } as const,
    ]) {
      const fires = await fireTimes(timing);
      const start = performance.now();
      expect(lastTimes(fires, START, Date.UTC(2040, 0, 1), 1000)).toHaveLength(1000);
      // Iterating over all of them would take minutes.
      expect(performance.now() - start).toBeLessThan(5000);
    }
  });
});
