import { isEveryHour, type NextWall, readCron } from './cron.ts';
import type { Timing } from './schedule.ts';
import { instantOf, offsetAt, transition } from './zone.ts';

/** The times at which a schedule fires. */
export interface FireTimes {
  /** The first one after this moment; null when there is none any more. */
  after(instant: number): number | null;
}

const DAY = 86_400_000;
const MINUTE = 60_000;

export async function fireTimes(timing: Timing): Promise<FireTimes> {
  if (timing.kind === 'every') return evenly(timing.everyMs, timing.anchorAt);
  const { zone } = timing;
  const next = await readCron(timing.cron);
  const after = isEveryHour(timing.cron) ? afterElapsed : afterNamed;
  return { after: (instant) => after(next, zone, instant) };
}

/** Also before the anchor: a clock that was wrong when the schedule was made does not silence it. */
function evenly(everyMs: number, anchorAt: number): FireTimes {
  // Only a row that somebody changed by hand has such an interval: its schedule never fires.
  if (!(everyMs > 0)) return { after: () => null };
  return { after: (instant) => anchorAt + (Math.floor((instant - anchorAt) / everyMs) + 1) * everyMs };
}

/** Every wall time that is shown counts: those of a doubled hour twice, those of a skipped one not at all. */
function afterElapsed(next: NextWall, zone: string, instant: number): number | null {
  let from = instant;
  let offset = offsetAt(zone, from);
  for (;;) {
    const wall = next(from + offset);
    if (wall === null) return null;
    const found = wall - offset;
    if (offsetAt(zone, found) === offset) return found;
    // The clock changes on the way: go on from there with what it shows then.
    const change = transition(zone, from, found);
    offset = offsetAt(zone, change);
    from = change - 1;
  }
}

/** Every wall time counts once: a doubled one the first time, a skipped one as much later as the clock is set forward. */
function afterNamed(next: NextWall, zone: string, instant: number): number | null {
  // Times that were skipped within the last day may still be to come.
  let wall = next(instant + Math.min(offsetAt(zone, instant), offsetAt(zone, instant - DAY)));
  let best: number | null = null;
  for (let end = Number.POSITIVE_INFINITY; wall !== null && wall < end; wall = next(wall)) {
    const { instant: found, skipped } = instantOf(zone, wall);
    if (found <= instant) continue;
    best = Math.min(best ?? found, found);
    // A time that is not skipped can come before one that is.
    end = Math.min(end, wall + skipped);
  }
  return best;
}

/** The last fire times from `from` to `to`, oldest first, at most `most`: the work does not grow with the distance. */
export function lastTimes({ after }: FireTimes, from: number, to: number, most: number): number[] {
  for (let span = MINUTE; ; span *= 2) {
    const start = Math.max(from, to - span);
    const found: number[] = [];
    for (let at = after(start - 1); at !== null && at <= to; at = after(at)) found.push(at);
    if (start === from || found.length >= most) return found.slice(-most);
  }
}

export function nextTimes({ after }: FireTimes, from: number, count: number): number[] {
  const found: number[] = [];
  for (let at = after(from); at !== null && found.length < count; at = after(at)) found.push(at);
  return found;
}
