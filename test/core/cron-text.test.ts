import { expect, test } from 'bun:test';
import { nextClockChange } from '../../src/core/clock-change.ts';
import { timingText } from '../../src/core/cron-text.ts';

test.each([
  ['30 2 * * *', 'every day at 02:30'],
  ['0 9,17 * * mon-fri', 'at 09:00 and 17:00, on Monday to Friday'],
  ['* * * * *', 'every minute'],
  ['*/5 * * * *', 'every 5 minutes'],
  ['*/15 9-17 * * 1-5', 'every 15 minutes, from 09:00 to 17:59, on Monday to Friday'],
  ['0 * * * *', 'every hour'],
  ['0 */2 * * *', 'on the hour, every 2 hours'],
  ['7 * * * *', 'at minute 7 of every hour'],
  ['10-20/5 4 * * *', 'at minutes 10 to 20 in steps of 5, in hour 4'],
  ['0 0 1 JAN,jul *', 'at 00:00, on day 1 of the month in January and July'],
  ['0 0 13 * fri', 'at 00:00, on day 13 of the month or on Friday'],
  ['0 9 * * fri#2', 'at 09:00, on the second Friday of the month'],
  ['0 9 * * 5L', 'at 09:00, on the last Friday of the month'],
  ['0 9 * * 1,friL', 'at 09:00, on Monday and the last Friday of the month'],
  ['0 0 L * *', 'at 00:00, on the last day of the month'],
  ['0 0 * * 7', 'at 00:00, on Sunday'],
  ['@Daily', 'every day at 00:00'],
])('%s is described as: %s', (cron, words) => {
  expect(timingText({ kind: 'cron', cron, zone: 'UTC' })).toBe(words);
});

test('a fixed interval is shown with its length', () => {
  expect(timingText({ kind: 'every', everyMs: 90_000, anchorAt: 0 })).toBe('every 90s');
});

const winter = Date.UTC(2027, 0, 15);
const summer = Date.UTC(2027, 6, 15);
const berlin = (cron: string) => ({ kind: 'cron', cron, zone: 'Europe/Berlin' }) as const;

test.each([
  ['30 2 * * *', winter, '2027-03-28T01:00', 'from 02:00 to 03:00, so the 02:30 run starts at 03:30 instead'],
  [
    '30 2 * * *',
    summer,
    '2027-10-31T01:00',
    'from 03:00 to 02:00, so 02:30 occurs twice, and the job runs only the first time',
  ],
  ['30 4 * * *', winter, '2027-03-28T01:00', 'from 02:00 to 03:00, but no run is affected'],
  ['*/20 * * * *', winter, '2027-03-28T01:00', 'from 02:00 to 03:00, but the runs keep their interval'],
])('the effect of the next clock change on %s is explained', async (cron, now, at, says) => {
  const found = await nextClockChange(berlin(cron), now);
  expect(new Date(found!.at).toISOString()).toStartWith(at);
  expect(found!.says).toBe(`clocks in Europe/Berlin change ${says}`);
});

test('a schedule in UTC or with a fixed interval has no clock change', async () => {
  expect(await nextClockChange({ kind: 'cron', cron: '@daily', zone: 'UTC' }, winter)).toBeNull();
  expect(await nextClockChange({ kind: 'every', everyMs: 1000, anchorAt: 0 }, winter)).toBeNull();
});
