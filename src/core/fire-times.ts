import { isEveryHour, type NextWall, readCron } from './cron.ts';
import type { Timing } from './schedule.ts';
import { findOffsetChange, instantOf, offsetAt } from './zone.ts';

/** The times at which a schedule fires. */
export interface FireTimes {
  /** Returns the first fire time after `instant`, or null if there is none. */
  after(instant: number): number | null;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export async function fireTimes(timing: Timing): Promise<FireTimes> {
  if (timing.kind === 'every') return atInterval(timing.everyMs, timing.anchorAt);
  const { zone } = timing;
  const next = await readCron(timing.cron);
  const nextOf = isEveryHour(timing.cron) ? nextOfEveryHour : nextOfNamedHours;
  return { after: (instant) => nextOf(next, zone, instant) };
}

/** Returns fire times at a fixed interval, also before the anchor: it is in the future if the clock was ahead at the creation. */
function atInterval(everyMs: number, anchorAt: number): FireTimes {
  // Only a row that was changed by hand has no positive interval. Its schedule never fires.
  if (!(everyMs > 0)) return { after: () => null };
  return { after: (instant) => anchorAt + (Math.floor((instant - anchorAt) / everyMs) + 1) * everyMs };
}

/** Finds the next fire time of an expression that fires every hour: twice at a time in a repeated hour, and not in a skipped one. */
function nextOfEveryHour(next: NextWall, zone: string, instant: number): number | null {
  let from = instant;
  let offset = offsetAt(zone, from);
  for (;;) {
    const wall = next(from + offset);
    if (wall === null) return null;
    const found = wall - offset;
    if (offsetAt(zone, found) === offset) return found;
    // The offset changes before that time, so the search continues from the change with the new offset.
    const change = findOffsetChange((at) => offsetAt(zone, at), from, found);
    offset = offsetAt(zone, change);
    from = change - 1;
  }
}

/**
 * Finds the next fire time of an expression that names hours. It fires once for each matching wall time. A repeated time
 * fires when it first occurs. A skipped time fires later, by as much as the clock was set forward.
 */
function nextOfNamedHours(next: NextWall, zone: string, instant: number): number | null {
  // A time that was skipped within the last day may still have to fire.
  let wall = next(instant + Math.min(offsetAt(zone, instant), offsetAt(zone, instant - DAY_MS)));
  let best: number | null = null;
  for (let end = Number.POSITIVE_INFINITY; wall !== null && wall < end; wall = next(wall)) {
    const { instant: found, skipped } = instantOf(zone, wall);
    if (found <= instant) continue;
    best = Math.min(best ?? found, found);
    // A later wall time that is not skipped may come earlier than a skipped one.
    end = Math.min(end, wall + skipped);
  }
  return best;
}

/** Returns the last `maxCount` fire times from `from` to `to`, oldest first. Searches back from `to`, because the range may be long. */
export function lastTimes({ after }: FireTimes, from: number, to: number, maxCount: number): number[] {
  for (let span = MINUTE_MS; ; span *= 2) {
    const start = Math.max(from, to - span);
    const found: number[] = [];
    for (let at = after(start - 1); at !== null && at <= to; at = after(at)) found.push(at);
    if (start === from || found.length >= maxCount) return found.slice(-maxCount);
  }
}

/** Returns the first `count` fire times after `from`, or fewer if there are no more. */
export function nextTimes({ after }: FireTimes, from: number, count: number): number[] {
  const found: number[] = [];
  for (let at = after(from); at !== null && found.length < count; at = after(at)) found.push(at);
  return found;
}
