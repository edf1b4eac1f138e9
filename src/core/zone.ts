/**
 * Wall time is what a clock on the wall shows, written as if it were UTC, so that it can be computed with. Time zones
 * come from the runtime's own tables.
 */
import { QueueError } from './errors.ts';

const DAY = 86_400_000;
/** There is no process in a browser, and its zone is never unknown. */
const ENVIRONMENT = globalThis as { process?: { env: Record<string, string | undefined> } };
const formats = new Map<string, Intl.DateTimeFormat>();

/** The zone as the runtime spells it; null when it knows none of this name. */
export function knownZone(name: string): string | null {
  try {
    const resolved = formatOf(name).resolvedOptions().timeZone;
    // Only the spelling is mended: a link such as Asia/Kolkata stays what the user called it.
    return resolved.toLowerCase() === name.toLowerCase() ? resolved : name;
  } catch {
    return null;
  }
}

/**
 * Returns the zone of this machine, or the one that TZ names. Throws if TZ names none that the runtime knows, such as
 * `EST5EDT,M3.2.0,M11.1.0`: the runtime would take UTC instead.
 */
export function localZone(named = ENVIRONMENT.process?.env.TZ): string {
  if (named === '') return 'UTC';
  // POSIX allows a colon, and glibc has its zones in two flavours.
  const name = named?.replace(/^:/, '').replace(/^(posix|right)\//, '');
  if (name === undefined || (/^[a-z]/i.test(name) && knownZone(name) !== null))
    return new Intl.DateTimeFormat().resolvedOptions().timeZone;
  throw new QueueError(
    'invalid-value',
    `the local time zone is unknown: TZ is '${named}'`,
    'set TZ to a name such as Europe/Berlin or UTC, or give the time zone with the time or with --tz',
  );
}

export function offsetAt(zone: string, instant: number): number {
  if (zone === 'UTC') return 0;
  const whole = Math.floor(instant / 1000) * 1000;
  // Swedish dates are ISO dates.
  return Date.parse(`${formatOf(zone).format(whole).replace(' ', 'T')}Z`) - whole;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
    formats.set(zone, format);
  }
  return format;
}

/**
 * When the clock shows this. A time that comes twice is meant the first time; one that is skipped comes as much later
 * as the clock is set forward, `skipped` then says by how much (RFC 5545 and java.time read it so, too).
 */
export function instantOf(zone: string, wall: number): { instant: number; skipped: number } {
  const before = offsetAt(zone, wall - DAY);
  const after = offsetAt(zone, wall + DAY);
  const shown = (offset: number): boolean => offsetAt(zone, wall - offset) === offset;
  const valid = [Math.max(before, after), Math.min(before, after)].find(shown);
  return valid === undefined
    ? { instant: wall - before, skipped: after - before }
    : { instant: wall - valid, skipped: 0 };
}

/** The first moment after `from` whose offset is not that of `from`, given that it is another one at `to`. */
export function transition(zone: string, from: number, to: number): number {
  const offset = offsetAt(zone, from);
  let low = from;
  let high = to;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle) === offset) low = middle;
    else high = middle;
  }
  return high;
}
