import { type ClockTime, possibleDates, readClockTime } from './clock-time.ts';
import { parseDuration } from './duration.ts';
import { QueueError } from './errors.ts';
import { onlyInstant, readLocalTime } from './local-time.ts';

const DAY_MS = 86_400_000;

/** The latest time that users can give, because an ISO time has a year of four digits. */
const LATEST_INPUT_MS = Date.UTC(9999, 11, 31);

const ISO_TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?(Z|z|[+-]\d\d:?\d\d)?$/;

/** The latest time that a `Date` can hold, in the year 275760. */
export const LATEST_DATE_MS = 8_640_000_000_000_000;

/** Formats a time. If no `Date` can hold it, such as a value written by hand, it becomes the nearest valid time (NaN: 1970). */
export function toIso(ms: number): string;
export function toIso(ms: number | null): string | null;
export function toIso(ms: number | null): string | null {
  if (ms === null) return null;
  return new Date(Math.min(Math.max(ms, -LATEST_DATE_MS), LATEST_DATE_MS) || 0).toISOString();
}

/**
 * Parses an ISO time with a zone or in local time, epoch seconds or milliseconds, `now`, a relative time such as `+10m`,
 * `now + 10 minutes`, `3h 20m` or `10m ago`, or a local time such as `23:30`, `2pm`, `tomorrow 09:00` or `friday 18:00`. A local
 * time is the next such moment, and a day and time in the past are refused. If `direction` is -1, it is the last such moment, and
 * `3h 20m` is that long ago. Errors call the value `what`.
 */
export function parseTime(text: string, what: string, now: number, direction: 1 | -1 = 1): number {
  const trimmed = withSingleSpaces(text);
  if (/^now$/i.test(trimmed)) return now;
  if (/^\d{9,13}$/.test(trimmed)) return fromEpoch(Number(trimmed));
  const iso = ISO_TIME.exec(trimmed);
  if (iso !== null) return checkInRange(isoTime(iso, text, what), text, what);
  const clock = readClockTime(trimmed);
  if (clock !== null && 'problem' in clock)
    throw new QueueError('invalid-time', `${invalidTime(text, what).message}: ${clock.problem}`, clock.hint);
  const time =
    clock === null
      ? relativeTime(trimmed, text, what, now, direction)
      : clockTime(clock, text, what, now, direction);
  // Nobody asks for a moment in words that is over. An ISO time may come from a file.
  if (direction === 1 && time < now)
    throw new QueueError(
      'invalid-time',
      `${what}: '${text}' is in the past`,
      "use a later time, or 'now' to start the job at once",
    );
  return checkInRange(time, text, what);
}

/** Tells whether a time is a distance from now, such as `now`, `+10m` and `10m`. */
export function isRelativeTime(text: string): boolean {
  const words = withSingleSpaces(text);
  if (/^now$/i.test(words) || readRelative(words).sign !== 0) return true;
  return STARTS_WITH_DURATION.test(words) && readClockTime(words) === null;
}

const STARTS_WITH_DURATION = /^\d[\d.]* ?[a-z]/i;
const withSingleSpaces = (text: string): string => text.trim().split(/\s+/).join(' ');

/** Splits `+10m`, `now + 10m`, `in 10m` and `10m ago` into a sign and a duration. Without a sign, it is 0. */
function readRelative(text: string): { sign: 1 | -1 | 0; rest: string } {
  const after = /^(?:(?:now ?)?\+|in ) ?/i.exec(text);
  if (after !== null) return { sign: 1, rest: text.slice(after[0].length) };
  const before = /^now ?- ?/i.exec(text);
  if (before !== null) return { sign: -1, rest: text.slice(before[0].length) };
  return / ago$/i.test(text) ? { sign: -1, rest: text.slice(0, -4) } : { sign: 0, rest: text };
}

function relativeTime(trimmed: string, text: string, what: string, now: number, direction: 1 | -1): number {
  const { sign, rest } = readRelative(trimmed);
  // A number needs a sign or a unit, because it could be a time of day.
  if (sign === 0 && !STARTS_WITH_DURATION.test(rest)) throw invalidTime(text, what);
  try {
    return now + (sign === 0 ? direction : sign) * parseDuration(rest, what);
  } catch (error) {
    throw sign === 0 ? invalidTime(text, what) : error;
  }
}

/** Returns the next moment, or the last one, at which the clocks show this time. */
function clockTime(clock: ClockTime, text: string, what: string, now: number, direction: 1 | -1): number {
  if (clock.zone !== '') return nextInZone(clock, now, direction);
  const dates = possibleDates(clock, now, direction);
  const isAhead = (instant: number): boolean => (instant - now) * direction > 0;
  for (const [i, date] of dates.entries()) {
    const readings = readLocalTime(`${date}T${clock.time}.000`);
    const ahead = readings.instants.filter(isAhead);
    // A time that occurs twice is clear if only one of the two is still to come.
    if (ahead.length === 1) return ahead[0]!;
    const isOver = ahead.length === 0 && !(readings.instants.length === 0 && isAhead(readings.changeAt!));
    if (i === dates.length - 1 || !isOver) return onlyInstant(readings, text, what);
  }
  throw invalidTime(text, what);
}

/** Returns the next moment, or the last one, at which clocks with this offset from UTC show the time. */
function nextInZone({ time, zone }: ClockTime, now: number, direction: 1 | -1): number {
  const today = Date.parse(`${toIso(now).slice(0, 10)}T${time}${zone}`);
  const days = [-2, -1, 0, 1, 2].map((day) => today + day * DAY_MS);
  return direction === 1 ? days.find((at) => at > now)! : days.findLast((at) => at < now)!;
}

function isoTime(match: RegExpExecArray, text: string, what: string): number {
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = ''] = match;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}`;
  // `Date` turns 31 February into 3 March, so the text has to survive a round trip through UTC.
  const asUtc = new Date(`${iso}Z`);
  if (Number.isNaN(asUtc.getTime()) || asUtc.toISOString() !== `${iso}Z`) throw invalidTime(text, what);
  return zone === '' ? onlyInstant(readLocalTime(iso), text, what) : Date.parse(iso + zone.toUpperCase());
}

/** Converts an epoch time. Numbers below 10^11 are seconds (until the year 5138), others milliseconds (from 1973 on). */
function fromEpoch(value: number): number {
  return value < 1e11 ? Math.round(value * 1000) : Math.round(value);
}

function checkInRange(ms: number, text: string, what: string): number {
  if (!(ms >= 0 && ms <= LATEST_INPUT_MS)) throw invalidTime(text, what);
  return ms;
}

function invalidTime(text: string, what: string): QueueError {
  return new QueueError('invalid-time', `${what}: invalid time '${text}'`);
}
