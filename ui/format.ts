/** 320 ms, 3.25 s, 4m12s, 2h05m, 3d04h. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  // Clocks of two machines may differ.
  const positive = Math.max(0, ms);
  if (positive < 1000) return `${Math.round(positive)} ms`;
  if (positive < 10_000) return `${trimmed(positive / 1000, 2)} s`;
  if (positive < 60_000) return `${trimmed(positive / 1000, 1)} s`;
  return coarse(Math.floor(positive / 1000));
}

function coarse(seconds: number): string {
  const pad = (n: number): string => String(n).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${pad(seconds % 60)}s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h${pad(Math.floor((seconds % 3600) / 60))}m`;
  return `${Math.floor(seconds / 86_400)}d${pad(Math.floor((seconds % 86_400) / 3600))}h`;
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}

/** For what changes every second: no parts of one. */
export function wholeDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? `${seconds} s` : coarse(seconds);
}

const NUMBER = new Intl.NumberFormat('en-GB');
export const number = (value: number): string => NUMBER.format(value);

export const percent = (part: number): string =>
  part === 1 ? '100 %' : `${trimmed(Math.floor(part * 1000) / 10, 1)} %`;

export function size(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return unit === 0 ? `${bytes} bytes` : `${trimmed(value, value < 10 ? 1 : 0)} ${units[unit]}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const CLOCK = new Intl.DateTimeFormat(undefined, {
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
});

/** Local time, or that of the world; the day only when it is another one. */
export function localTime(iso: string, now: number, utc = false): string {
  const at = new Date(iso);
  if (utc) {
    const [day, clock] = [iso.slice(0, 10), `${iso.slice(11, 19)} UTC`];
    return new Date(now).toISOString().startsWith(day) ? clock : `${day} ${clock}`;
  }
  const today = new Date(now).toDateString() === at.toDateString();
  const year = at.getFullYear() === new Date(now).getFullYear() ? '' : ` ${at.getFullYear()}`;
  return today ? CLOCK.format(at) : `${DAY.format(at)}${year} ${CLOCK.format(at)}`;
}

/** What cannot be seen or turns the text around, made visible. */
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
