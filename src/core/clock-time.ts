/** A time of day, with the day if one was given. */
export interface ClockTime {
  /** A number of days from today, a weekday (Sunday is 0), or null if no day was given. */
  day: { fromToday: number } | { weekday: number } | null;
  /** The time as `HH:MM:SS`. */
  time: string;
}

const DAYS_FROM_TODAY: Record<string, number> = { today: 0, tomorrow: 1, yesterday: -1 };
const NAMED_TIMES: Record<string, string> = { noon: '12:00:00', midnight: '00:00:00' };
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** Reads texts such as `23:30`, `2pm`, `tomorrow 09:00`, `fri 18:00` and `9:15am monday`. Returns null for anything else. */
export function readClockTime(text: string): ClockTime | null {
  const normalized = text
    .toLowerCase()
    .replace(/,|\bat\b/g, ' ')
    .trim()
    .split(/\s+/)
    .join(' ');
  const words = normalized.replace(/ (?=[ap]m\b)/, '').split(' ');
  const day = words.map(readDay).find((one) => one !== null) ?? null;
  const time = words.map(readTimeOfDay).find((one) => one !== null) ?? null;
  return time !== null && words.length === (day === null ? 1 : 2) ? { day, time } : null;
}

function readDay(word: string): ClockTime['day'] {
  if (Object.hasOwn(DAYS_FROM_TODAY, word)) return { fromToday: DAYS_FROM_TODAY[word]! };
  const weekday = word.length < 3 ? -1 : WEEKDAYS.findIndex((name) => name.startsWith(word));
  return weekday === -1 ? null : { weekday };
}

function readTimeOfDay(word: string): string | null {
  if (Object.hasOwn(NAMED_TIMES, word)) return NAMED_TIMES[word]!;
  const match = /^(\d\d?)(?::(\d\d)(?::(\d\d))?)?(am|pm)?$/.exec(word);
  if (match === null) return null;
  const [, hours, minutes = '00', seconds = '00', amOrPm] = match;
  let hour = Number(hours);
  // A bare number such as 9 is ambiguous.
  if (amOrPm === undefined && match[2] === undefined) return null;
  if (amOrPm !== undefined) {
    if (hour < 1 || hour > 12) return null;
    hour = (hour % 12) + (amOrPm === 'pm' ? 12 : 0);
  }
  if (hour > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null;
  return `${String(hour).padStart(2, '0')}:${minutes}:${seconds}`;
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
