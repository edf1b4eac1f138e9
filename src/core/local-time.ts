import { QueueError } from './errors.ts';
import { findOffsetChange, localZone } from './zone.ts';

/** When the local clocks show a time: never if they skip it, twice if they are set back over it. */
export interface LocalReadings {
  /** The local time as `YYYY-MM-DDTHH:MM:SS.mmm`. */
  iso: string;
  instants: number[];
  /** The instant of the clock change that skips the time or repeats it. Null if the time occurs once. */
  changeAt: number | null;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Finds out when the local clocks show a time. Throws if the local zone is unknown. */
export function readLocalTime(iso: string): LocalReadings {
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
export function onlyInstant({ iso, instants, changeAt }: LocalReadings, text: string, what: string): number {
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
