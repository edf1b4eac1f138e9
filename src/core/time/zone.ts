/* A wall time is the local time of a zone, in milliseconds as if it were UTC. The runtime provides the time zones. */
import { invalidValue } from '../errors.ts';

const DAY_MS = 86_400_000;
/** The global object. A browser has no `process`, and its zone is always known. */
const GLOBAL = globalThis as { process?: { env: Record<string, string | undefined> } };
const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the name of a zone with its upper and lower case corrected, or null if the runtime does not know the zone. */
export function knownZone(name: string): string | null {
  try {
    const resolved = formatOf(name).resolvedOptions().timeZone;
    // Nothing else is changed: Asia/Kolkata stays, even if the runtime calls it Asia/Calcutta.
    return resolved.toLowerCase() === name.toLowerCase() ? resolved : name;
  } catch {
    return null;
  }
}

/** Returns the zone of this machine or of the variable TZ. Throws if the runtime does not know the zone, because it would use UTC instead. */
export function localZone(tz = GLOBAL.process?.env.TZ): string {
  if (tz === '') return 'UTC';
  // POSIX allows a leading colon, and glibc has the zones also below posix/ and right/.
  const name = tz?.replace(/^:/, '').replace(/^(posix|right)\//, '');
  if (name === undefined || (/^[a-z]/i.test(name) && knownZone(name) !== null))
    return new Intl.DateTimeFormat().resolvedOptions().timeZone;
  throw invalidValue(
    `the environment variable TZ is '${tz}', which is not a known time zone`,
    'set TZ to a time zone such as Europe/Berlin or UTC',
  );
}

/** Returns the offset of a zone from UTC at an instant, in milliseconds. */
export function offsetAt(zone: string, instant: number): number {
  if (zone === 'UTC') return 0;
  const wholeSecond = Math.floor(instant / 1000) * 1000;
  // The Swedish date format is the same as that of ISO.
  return Date.parse(`${formatOf(zone).format(wholeSecond).replace(' ', 'T')}Z`) - wholeSecond;
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
 * Returns when the clocks of a zone show this wall time. If it occurs twice, the first time counts. If it is skipped, it
 * is moved forward by `skipped`, the length of the gap, as RFC 5545 and java.time do.
 */
export function instantOf(zone: string, wall: number): { instant: number; skipped: number } {
  const before = offsetAt(zone, wall - DAY_MS);
  const after = offsetAt(zone, wall + DAY_MS);
  const isShown = (offset: number): boolean => offsetAt(zone, wall - offset) === offset;
  const valid = [Math.max(before, after), Math.min(before, after)].find(isShown);
  return valid === undefined
    ? { instant: wall - before, skipped: after - before }
    : { instant: wall - valid, skipped: 0 };
}

/** Returns the instant of a change of an offset between `from` and `to`. The offset at `to` must differ from that at `from`. */
export function findOffsetChange(offsetOf: (instant: number) => number, from: number, to: number): number {
  let low = from;
  let high = to;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetOf(middle) === offsetOf(from)) low = middle;
    else high = middle;
  }
  return high;
}
