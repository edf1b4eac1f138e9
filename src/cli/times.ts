import { formatRelative } from '../core/duration.ts';
import { toIso } from '../core/time.ts';
import type { Io } from './io.ts';
import type { TimeStyle } from './layout.ts';
import { isAligned } from './table.ts';

/** Formats times, given in milliseconds or in ISO 8601. A missing time becomes an empty text. */
export interface TimeFormat {
  now: number;
  text(at: number | string | null): string;
}

/** Returns the time format: that of --time and --utc, else relative in a table and ISO elsewhere. */
export function timesFor(io: Io, now: number): TimeFormat {
  const { time, utc } = io.layout;
  const style = time ?? (utc ? 'local' : isAligned(io) ? 'relative' : 'iso');
  return timeFormat(now, (at) => timeText(at, style, utc, now));
}

/** Returns the time format of a detail view, which has room for both the time and its distance from now. */
export function fullTimesFor(io: Io, now: number): TimeFormat {
  if (io.layout.time !== null || io.layout.utc) return timesFor(io, now);
  return timeFormat(now, (at) => `${toIso(at)} (${formatRelative(at, now)})`);
}

function timeFormat(now: number, text: (at: number) => string): TimeFormat {
  return { now, text: (at) => (at === null ? '' : text(typeof at === 'string' ? Date.parse(at) : at)) };
}

function timeText(at: number, style: TimeStyle, utc: boolean, now: number): string {
  if (style === 'relative') return formatRelative(at, now);
  if (style === 'unix') return String(at / 1000);
  if (style === 'iso') return toIso(at);
  const shift = utc ? 0 : new Date(at).getTimezoneOffset() * 60_000;
  const text = toIso(at - shift)
    .slice(0, 19)
    .replace('T', ' ');
  return utc ? `${text}Z` : text;
}
