import { describe, expect, test } from 'bun:test';
import { isEveryHour, readCron } from '../../src/core/schedules/fire-times.ts';
import { toIso } from '../../src/core/time/time.ts';
import { knownZone } from '../../src/core/time/zone.ts';

const START = Date.UTC(2030, 0, 1);

describe('cron expressions', () => {
  const good: [expression: string, next: string][] = [
    ['*/5 * * * *', '2030-01-01T00:05'],
    ['0 9 * * mon-fri', '2030-01-01T09:00'],
    ['0 9 * * 7', '2030-01-06T09:00'],
    ['0 0 1 JAN,jul *', '2030-07-01T00:00'],
    ['10-20/5 4 * * *', '2030-01-01T04:10'],
    ['0 0 29 2 *', '2032-02-29T00:00'],
    ['0 0 L * *', '2030-01-31T00:00'],
    ['0 9 * * fri#2', '2030-01-11T09:00'],
    ['  15   3 * * * ', '2030-01-01T03:15'],
    ['@hourly', '2030-01-01T01:00'],
    ['@daily', '2030-01-02T00:00'],
    ['@midnight', '2030-01-02T00:00'],
    ['@weekly', '2030-01-06T00:00'],
    ['@monthly', '2030-02-01T00:00'],
    ['@YEARLY', '2031-01-01T00:00'],
    ['0 0 13 * fri', '2030-01-04T00:00'],
  ];
  for (const [expression, next] of good) {
    test(`'${expression}' next runs at ${next}`, async () => {
      const found = (await readCron(expression))(START);
      expect(toIso(found)?.slice(0, 16)).toBe(next);
    });
  }

  test('an expression for a date that never comes has no next time', async () => {
    expect((await readCron('0 0 30 2 *'))(START)).toBeNull();
  });

  const bad = [
    '',
    '   ',
    '* * * *',
    '* * * * * *',
    '*/0 * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '0 0 1-100000000 * *',
    '0 0 1--100000000 * *',
    '*/100000000 * * * *',
    '0 0 * foo *',
    '0 0 * * mon-',
    '1,,2 * * * *',
    ', * * * *',
    'a b c d e',
    '@reboot',
    '@every 5m',
    '2030-01-01T00:00:00',
    '? ? * * *',
    '0 0 * * +fri',
    '((((a+)+)+)+$ * * * *',
    `${'1,'.repeat(127)}1 * * * *`,
    `${'9'.repeat(10_000)} * * * *`,
    `${','.repeat(1000)} * * * *`,
  ];
  for (const expression of bad) {
    test(`'${expression.slice(0, 40)}' is refused quickly`, async () => {
      // The best of five tries counts, because each can be interrupted on a busy machine.
      let quickest = Number.POSITIVE_INFINITY;
      let error: unknown = null;
      for (let tries = 0; tries < 5; tries++) {
        const start = performance.now();
        error = await readCron(expression).then(
          () => null,
          (refusal) => refusal,
        );
        quickest = Math.min(quickest, performance.now() - start);
      }
      expect(quickest).toBeLessThan(10);
      expect(error).toMatchObject({ name: 'QueueError', code: 'invalid-cron' });
    });
  }

  test('isEveryHour is false for an expression that omits an hour', () => {
    for (const yes of ['* * * * *', '*/5 * * * *', '0 */1 * * *', '0 0-23 * * *', '@hourly'])
      expect(isEveryHour(yes)).toBe(true);
    for (const no of ['0 2 * * *', '0 */2 * * *', '0 0-22 * * *', '@daily'])
      expect(isEveryHour(no)).toBe(false);
  });
});

test('knownZone ignores case and returns null for unknown names', () => {
  expect(knownZone('europe/berlin')).toBe('Europe/Berlin');
  expect(knownZone('Asia/Kolkata')).toMatch(/^Asia/);
  for (const no of ['Mars/Olympus', '', 'Europe', 'x'.repeat(1000), '../etc/passwd'])
    expect(knownZone(no)).toBeNull();
});
