import { possibleDates, readClockTime } from './clock-time.ts';
import { parseDuration } from './duration.ts';
import { QueueError } from './errors.ts';
import { localZone } from './zone.ts';

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
 * Parses an ISO time with a zone or in local time, epoch seconds or milliseconds, `now`, a relative time such as `+10m` or
 * `3h 20m`, or a clock time such as `23:30`, `2pm`, `tomorrow 09:00` or `friday 18:00`. A clock time is the next such moment. If
 * `direction` is -1, it is the last such moment, and `3h 20m` is that long ago. Errors call the value `what`.
 */
export function parseTime(text: string, what: string, now: number, direction: 1 | -1 = 1): number {
  const trimmed = text.trim();
  if (/^now$/i.test(trimmed)) return now;
  if (/^\+/.test(trimmed)) return checkInRange(now + parseDuration(trimmed.slice(1), what), text, what);
  if (/^(in )?\d[\d.]*[smhd]/i.test(trimmed))
    return checkInRange(now + direction * parseDuration(trimmed.replace(/^in /i, ''), what), text, what);
  if (/^\d{9,13}$/.test(trimmed)) return fromEpoch(Number(trimmed));
  const clock = readClockTime(trimmed);
  if (clock !== null) {
    // Each time is computed only if it is needed, because a time that the clocks skip or repeat is an error.
    const times = possibleDates(clock, now, direction).map(
      (date) => () => localTime(`${date}T${clock.time}.000`, text, what),
    );
    for (const time of times.slice(0, -1)) if ((time() - now) * direction > 0) return time();
    return checkInRange(times.at(-1)!(), text, what);
  }
  const match = ISO_TIME.exec(trimmed);
  if (match === null) throw invalidTime(text, what);
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = ''] = match;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}`;
  // `Date` turns 31 February into 3 March, so the text has to survive a round trip through UTC.
  const asUtc = new Date(`${iso}Z`);
  if (Number.isNaN(asUtc.getTime()) || asUtc.toISOString() !== `${iso}Z`) throw invalidTime(text, what);
  return checkInRange(
    zone === '' ? localTime(iso, text, what) : Date.parse(iso + zone.toUpperCase()),
    text,
    what,
  );
}

/** Returns when the local clocks show this time. Throws if they skip it or show it twice, or if the local zone is unknown. */
function localTime(iso: string, text: string, what: string): number {
  localZone();
  const time = Date.parse(iso);
  if (isUnambiguous(time, iso)) return time;
  throw new QueueError(
    'invalid-time',
    `${what}: '${text}' is ambiguous or does not exist, because the clocks change at that time`,
    `add a time zone to the time, such as ${iso.slice(0, 16)}Z for UTC`,
  );
}

/** Tells whether a local time exists and occurs only once. */
function isUnambiguous(time: number, iso: string): boolean {
  return (
    localIso(time) === iso &&
    CLOCK_SHIFTS_MS.every((shift) => localIso(time - shift) !== iso && localIso(time + shift) !== iso)
  );
}

/** The clocks of all zones change by an hour, except half an hour on Lord Howe Island and two hours at Troll. */
const CLOCK_SHIFTS_MS = [30, 60, 120].map((minutes) => minutes * 60_000);

function localIso(time: number): string {
  const shifted = new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, -1);
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
