/** A time of day, with the day if one was given. */
export interface ClockTime {
  /** A number of days from today, a weekday (Sunday is 0), or null if no day was given. */
  day: { fromToday: number } | { weekday: number } | null;
  /** The time as `HH:MM:SS`. */
  time: string;
  /** The offset from UTC as `Z` or `+02:00`, or an empty text for local time. */
  zone: string;
}

/** Tells what is wrong with a text that is almost a time of day. */
export interface ClockProblem {
  problem: string;
  hint: string;
}

const DAYS_FROM_TODAY: Record<string, number> = { today: 0, tomorrow: 1, yesterday: -1 };
const NAMED_TIMES: Record<string, string> = { noon: '12:00:00', midnight: '00:00:00' };
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** Reads texts such as `23:30`, `18:00Z`, `fri 18:00` and `9:15am monday`. Returns null for a text without a day or a time of day. */
export function readClockTime(text: string): ClockTime | ClockProblem | null {
  const words = text
    .toLowerCase()
    .replaceAll(',', ' ')
    .replace(/\b([ap])\.m\.?/, '$1m')
    .split(/\s+/)
    .filter((word) => word !== '' && word !== 'at')
    .join(' ')
    .replace(/ (?=[ap]m\b)/, '')
    .split(' ')
    // After a day, 18 can only be an hour.
    .map((word, _i, { length }) => (length === 2 && /^(1[3-9]|2[0-3])$/.test(word) ? `${word}:00` : word));
  const days = words.map(readDay).filter((day) => day !== null);
  const times = words.map(readTimeOfDay).filter((time) => time !== null);
  const others = words.filter((word) => readDay(word) === null && readTimeOfDay(word) === null);
  const [day = null] = days;
  if (days.length > 1 || times.length > 1) return null;
  if (others.length > 0) return day === null ? null : problemOf(text, words, others);
  if (times.length === 0) return day === null ? null : missingTime(text);
  const [{ time, zone }] = times as [TimeOfDay];
  if (day !== null && zone !== '')
    return {
      problem: 'the day may be that of another time zone',
      hint: 'use a date, such as 2030-01-31T18:00Z',
    };
  return { day, time, zone };
}

function missingTime(text: string): ClockProblem {
  return { problem: 'the time of day is missing', hint: `add a time of day, as in '${text} 18:00'` };
}

function problemOf(text: string, words: string[], others: string[]): ClockProblem | null {
  const [other] = others as [string];
  if (others.length > 1) return null;
  if (other === 'next' && words.length > 1)
    return {
      problem: "'next' may mean this week or the week after",
      hint: `leave out 'next' for the first such day, as in '${words.filter((word) => word !== other).join(' ')}', or use a date`,
    };
  if (/^\d\d?$/.test(other) && Number(other) >= 1 && Number(other) <= 12)
    return {
      problem: `${other} may be in the morning or in the evening`,
      hint: `use ${other}am or ${other}pm`,
    };
  return missingTime(text.replace(other, '').trim());
}

function readDay(word: string): ClockTime['day'] {
  if (Object.hasOwn(DAYS_FROM_TODAY, word)) return { fromToday: DAYS_FROM_TODAY[word]! };
  const weekday = word.length < 3 ? -1 : WEEKDAYS.findIndex((name) => name.startsWith(word));
  return weekday === -1 ? null : { weekday };
}

type TimeOfDay = Pick<ClockTime, 'time' | 'zone'>;

function readTimeOfDay(word: string): TimeOfDay | null {
  if (Object.hasOwn(NAMED_TIMES, word)) return { time: NAMED_TIMES[word]!, zone: '' };
  const match = /^(\d\d?)(?::(\d\d)(?::(\d\d))?)?(am|pm)?(z|[+-]\d\d:?\d\d)?$/.exec(word);
  if (match === null) return null;
  const [, hours, minutes = '00', seconds = '00', amOrPm, zone = ''] = match;
  let hour = Number(hours);
  if (amOrPm !== undefined) {
    if (hour < 1 || hour > 12) return null;
    hour = (hour % 12) + (amOrPm === 'pm' ? 12 : 0);
  } else if (match[2] === undefined) return null;
  if (hour > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null;
  return { time: `${String(hour).padStart(2, '0')}:${minutes}:${seconds}`, zone: zone.toUpperCase() };
}

/**
 * Returns the local dates (`YYYY-MM-DD`) on which the time can be, nearest first. Without a day, these are today and tomorrow.
 * For a weekday, today counts too. If `direction` is -1, past dates are returned instead of future ones.
 */
export function possibleDates({ day }: ClockTime, now: number, direction: 1 | -1): string[] {
  const today = new Date(now);
  const offsets =
    day === null
      ? [0, direction]
      : 'fromToday' in day
        ? [day.fromToday]
        : [0, 1, 2, 3, 4, 5, 6, 7]
            .map((days) => days * direction)
            .filter((days) => (((today.getDay() + days - day.weekday) % 7) + 7) % 7 === 0);
  return offsets.map((days) => {
    const date = new Date(today.getFullYear(), today.getMonth(), today.getDate() + days, 12);
    return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
      .map((part, i) => String(part).padStart(i === 0 ? 4 : 2, '0'))
      .join('-');
  });
}
