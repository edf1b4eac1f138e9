import { QueueError } from '../errors.ts';
import { parseDuration } from './duration.ts';
import { findOffsetChange, localZone } from './zone.ts';

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
 * Parses an ISO time with a zone or in local time, epoch seconds or milliseconds, `now`, a distance from now such as `+10m`, or a local
 * time such as `23:30`, `2pm`, `tomorrow 09:00` or `friday 18:00`, which is the next such moment. If `direction` is -1, it is the last
 * such moment, and `10m` is that long ago. Errors call the value `what`.
 */
export function parseTime(text: string, what: string, now: number, direction: 1 | -1 = 1): number {
  const trimmed = text.trim();
  if (/^now$/i.test(trimmed)) return now;
  if (/^\d{9,13}$/.test(trimmed)) return fromEpoch(Number(trimmed));
  const iso = ISO_TIME.exec(trimmed);
  const clock = CLOCK_TIME.exec(trimmed.toLowerCase());
  let time: number;
  if (iso !== null) time = isoTime(iso, text, what);
  else if (clock !== null) time = clockTime(clock, text, what, now, direction);
  else if (trimmed.startsWith('+')) time = now + parseDuration(trimmed.slice(1), what);
  else if (direction === -1 && /^\d/.test(trimmed)) time = now - parseDuration(trimmed, what);
  else throw invalidTime(text, what);
  if (!(time >= 0 && time <= LATEST_INPUT_MS)) throw invalidTime(text, what);
  return time;
}

/** Tells whether a time is a distance from now, such as `now` and `+10m`. */
export const isRelativeTime = (text: string): boolean => /^(now$|\+)/i.test(text.trim());

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
/** A time of day, with or without a day. Without `am` or `pm`, it has minutes. */
const CLOCK_TIME =
  /^(?:(tomorrow|(?:sun|mon|tues|wednes|thurs|fri|satur)day) )?(?:([01]?\d|2[0-3]):([0-5]\d)|(0?[1-9]|1[0-2])(?::([0-5]\d))?([ap])m)$/;

/** Returns the next moment, or the last one, at which the local clocks show this time. */
function clockTime(
  [, day, hour24, minute24, hour12, minute12 = '00', half]: RegExpExecArray,
  text: string,
  what: string,
  now: number,
  direction: 1 | -1,
): number {
  const hour = hour24 ?? String((Number(hour12) % 12) + (half === 'p' ? 12 : 0));
  const dates = possibleDates(day, now, direction);
  const isAhead = (instant: number): boolean => (instant - now) * direction > 0;
  for (const [i, date] of dates.entries()) {
    const readings = readLocalTime(`${date}T${hour.padStart(2, '0')}:${minute24 ?? minute12}:00.000`);
    const ahead = readings.instants.filter(isAhead);
    // A time that occurs twice is clear if only one of the two is still to come.
    if (ahead.length === 1) return ahead[0]!;
    const isOver = ahead.length === 0 && !(readings.instants.length === 0 && isAhead(readings.changeAt!));
    if (i === dates.length - 1 || !isOver) return onlyInstant(readings, text, what);
  }
  throw invalidTime(text, what);
}

/** Returns the local dates on which the time can be, nearest first. For a weekday, today counts too. */
function possibleDates(day: string | undefined, now: number, direction: 1 | -1): string[] {
  const today = new Date(now);
  const weekday = WEEKDAYS.indexOf(day ?? '');
  const isThatDay = (days: number): boolean => (today.getDay() + days + 7 - weekday) % 7 === 0;
  const distances =
    day === undefined
      ? [0, direction]
      : day === 'tomorrow'
        ? [1]
        : [0, 1, 2, 3, 4, 5, 6, 7].map((days) => days * direction).filter(isThatDay);
  return distances.map((days) =>
    new Date(Date.UTC(today.getFullYear(), today.getMonth(), today.getDate() + days))
      .toISOString()
      .slice(0, 10),
  );
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

function invalidTime(text: string, what: string): QueueError {
  return new QueueError('invalid-time', `${what}: invalid time '${text}'`);
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Finds out when the local clocks show a time, such as `2030-01-31T09:00:00.000`: never if they skip it, twice if they are set back
 * over it. Then `changeAt` is the instant of that clock change. Throws if the local zone is unknown.
 */
function readLocalTime(iso: string) {
  localZone();
  const asUtc = Date.parse(`${iso}Z`);
  // No offset is longer than a day, so these two instants are before and after the one that is searched for.
  const [from, to] = [asUtc - 1.5 * DAY_MS, asUtc + 1.5 * DAY_MS];
  if (offsetAt(from) === offsetAt(to)) return { iso, instants: [Date.parse(iso)], changeAt: null };
  const offsets = [...new Set([offsetAt(from), offsetAt(to)])];
  const instants = offsets
    .map((offset) => asUtc - offset)
    .filter((instant) => localIso(instant) === iso)
    .sort((a, b) => a - b);
  return { iso, instants, changeAt: instants.length === 1 ? null : findOffsetChange(offsetAt, from, to) };
}

/** Returns the only instant of a local time. Throws if there is none or if there are two, with the times to use instead. */
function onlyInstant(
  { iso, instants, changeAt }: ReturnType<typeof readLocalTime>,
  text: string,
  what: string,
): number {
  if (instants.length === 1) return instants[0]!;
  if (instants.length === 2)
    throw new QueueError(
      'invalid-time',
      `${what}: '${text}' occurs twice, because the clocks are set back on ${iso.slice(0, 10)}`,
      `add the offset from UTC: ${instants.map(withOffset).join(' or ')}`,
    );
  const [before, after] = [localIso(changeAt! - MINUTE_MS), localIso(changeAt!)];
  throw new QueueError(
    'invalid-time',
    `${what}: '${text}' does not exist, because the clocks are set forward on ${iso.slice(0, 10)}`,
    `use ${before.slice(0, 16)} or ${after.slice(0, 16)}, the last time before the clock change and the first one after it`,
  );
}

const offsetAt = (instant: number): number => -new Date(instant).getTimezoneOffset() * MINUTE_MS;

function localIso(instant: number): string {
  return new Date(instant + offsetAt(instant)).toISOString().slice(0, -1);
}

/** Formats an instant as local time with its offset, such as `2030-10-27T02:30+01:00`. */
function withOffset(instant: number): string {
  const offset = offsetAt(instant);
  const digits = new Date(Math.abs(offset)).toISOString().slice(11, 16);
  const seconds = localIso(instant).slice(16, 19);
  return `${localIso(instant).slice(0, 16)}${seconds === ':00' ? '' : seconds}${offset < 0 ? '-' : '+'}${digits}`;
}
