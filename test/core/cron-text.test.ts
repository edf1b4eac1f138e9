import { expect, test } from 'bun:test';
import { timingText } from '../../src/core/schedules/cron-text.ts';

test.each([
  ['30 2 * * *', 'every day at 02:30'],
  ['0 9,17 * * mon-fri', 'at 09:00 and 17:00, Monday through Friday'],
  ['* * * * *', 'every minute'],
  ['*/5 * * * *', 'every 5 minutes'],
  ['*/15 9-17 * * 1-5', 'every 15 minutes, between 09:00 and 17:59, Monday through Friday'],
  ['0 * * * *', 'every hour'],
  ['0 */2 * * *', 'on the hour, every 2 hours'],
  ['7 * * * *', 'at 7 minutes past the hour'],
  ['10-20/5 4 * * *', 'every 5 minutes, minutes 10 through 20 past the hour, between 04:00 and 04:59'],
  ['0 0 1 JAN,jul *', 'at 00:00, on day 1 of the month, only in January and July'],
  ['0 0 13 * fri', 'at 00:00, on day 13 of the month, and on Friday'],
  ['0 9 * * fri#2', 'at 09:00, on the second Friday of the month'],
  ['0 9 * * 5L', 'at 09:00, on the last Friday of the month'],
  ['0 9 * * 1,friL', 'at 09:00, only on Monday and on the last Friday of the month'],
  ['0 0 L * *', 'at 00:00, on the last day of the month'],
  ['0 0 * * 7', 'at 00:00, only on Sunday'],
  ['@Daily', 'every day at 00:00'],
  ['@yearly', 'at 00:00, on day 1 of the month, only in January'],
  ['0 0,12 * * *', 'every day at 00:00 and 12:00'],
])('%s is described as: %s', (cron, words) => {
  expect(timingText({ kind: 'cron', cron, zone: 'UTC' })).toBe(words);
});

test('a fixed interval is shown with its length', () => {
  expect(timingText({ kind: 'every', everyMs: 90_000, anchorAt: 0 })).toBe('every 90s');
});
