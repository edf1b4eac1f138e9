/** Formats a duration with at most two units: `320ms`, `3.2s`, `54s`, `1m 4s`, `2h 5m`, `3d 4h`. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  // A negative duration can occur, because the clocks of two machines may differ.
  const rounded = Math.max(0, Math.round(ms));
  if (rounded < 1000) return `${rounded}ms`;
  if (rounded < 9950) return `${Math.round(rounded / 100) / 10}s`;
  const seconds = Math.round(rounded / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return twoUnits(seconds, 60, 'm', 's');
  const minutes = Math.floor(seconds / 60);
  return minutes < 1440 ? twoUnits(minutes, 60, 'h', 'm') : twoUnits(Math.floor(minutes / 60), 24, 'd', 'h');
}

function twoUnits(count: number, size: number, large: string, small: string): string {
  const rest = count % size;
  return `${Math.floor(count / size)}${large}${rest === 0 ? '' : ` ${rest}${small}`}`;
}

/** Formats a duration that changes every second, in whole seconds. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  return seconds === 0 ? '0s' : duration(seconds * 1000);
}

/** Formats a time as its distance from now: `3m 20s ago`, `in 12s`. */
export function relativeTime(iso: string, now: number): string {
  const ms = now - Date.parse(iso);
  if (Math.abs(ms) < 1000) return 'now';
  return ms > 0 ? `${elapsed(ms)} ago` : `in ${elapsed(-ms)}`;
}

/** Formats a duration for a form field: the shortest text that the server parses back to the same value. */
export function exactDuration(ms: number): string {
  for (const [unit, size] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ] as const)
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  return `${ms}ms`;
}

/** The locale of all numbers and dates. */
export const LOCALE = 'en-GB';
const NUMBER = new Intl.NumberFormat(LOCALE);
export const number = (value: number): string => NUMBER.format(value);

/** Formats a share of 1. Only the whole is `100%`, and only nothing is `0%`. */
export function percent(part: number): string {
  const value = Math.round(part * 100);
  if (value === 0 && part > 0) return '<1%';
  if (value === 100 && part < 1) return '>99%';
  return `${value}%`;
}

export function size(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit > 0 && value < 9.95 ? 1 : 0;
  return `${Number(value.toFixed(digits))} ${units[unit]}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

const clockOf = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...options });
const DAY = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' });
const CLOCK = clockOf({ second: '2-digit' });
const SHORT_CLOCK = clockOf({});

/** Formats an exact time in the local time zone, or in UTC. The day is left out when it is today. Returns a text that is no time unchanged. */
export function localTime(iso: string, now: number, utc = false): string {
  const at = new Date(iso);
  if (Number.isNaN(+at)) return visible(iso);
  if (utc) {
    const [day, clock] = [iso.slice(0, 10), `${iso.slice(11, 19)} UTC`];
    return new Date(now).toISOString().startsWith(day) ? clock : `${day} ${clock}`;
  }
  const today = new Date(now).toDateString() === at.toDateString();
  const year = at.getFullYear() === new Date(now).getFullYear() ? '' : ` ${at.getFullYear()}`;
  return today ? CLOCK.format(at) : `${DAY.format(at)}${year} ${CLOCK.format(at)}`;
}

/** Formats the hour and minute of a time, in another time zone if one is given. */
export function clock(at: Date, timeZone?: string): string {
  return (timeZone === undefined ? SHORT_CLOCK : clockOf({ timeZone })).format(at);
}

/** Formats the day of a time: `3 Mar`. */
export const day = (at: Date): string => DAY.format(at);

/** Starts a text of the server with a capital letter, unless its first word is a name. */
export function sentence(text: string): string {
  return /^(?!queuectl\b)[a-z]+([ ,:.]|$)/.test(text) ? text[0]!.toUpperCase() + text.slice(1) : text;
}

/** Escapes characters that are invisible or reverse the text. */
export function visible(text: string): string {
  return text.replace(
    /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (one) => {
      const code = one.charCodeAt(0);
      if (code < 0x20 || code === 0x7f) return `^${String.fromCharCode(code ^ 0x40)}`;
      return `\\u${code.toString(16).padStart(4, '0')}`;
    },
  );
}
