import { isEveryHour, readCron } from './cron.ts';
import type { Timing } from './schedule.ts';
import { findOffsetChange, offsetAt } from './zone.ts';

/** The next clock change in a schedule's time zone. `says` describes the change and its effect on the schedule. */
export interface ClockChange {
  at: number;
  says: string;
}

const DAY = 86_400_000;
const SECOND = 1000;
const SEARCHED_DAYS = 370;

/** Returns the next clock change. Returns null for a fixed interval, or if the clocks do not change within about a year. */
export async function clockChange(timing: Timing, now: number): Promise<ClockChange | null> {
  if (timing.kind === 'every') return null;
  const { zone, cron } = timing;
  const at = nextTransition(zone, now);
  if (at === null) return null;
  const [before, after] = [at + offsetAt(zone, at - 1), at + offsetAt(zone, at)];
  const next = await readCron(cron);
  const first = next(Math.min(before, after) - SECOND);
  const isAffected = first !== null && first < Math.max(before, after);
  const clock = `clocks in ${zone} change from ${wall(before)} to ${wall(after)}`;
  return { at, says: `${clock}, ${effect(cron, first, isAffected, after - before)}` };
}

function effect(cron: string, first: number | null, isAffected: boolean, by: number): string {
  if (!isAffected) return 'but no run is affected';
  if (isEveryHour(cron)) return 'but the runs keep their interval';
  return by > 0
    ? `so the ${wall(first!)} run starts at ${wall(first! + by)} instead`
    : `so ${wall(first!)} occurs twice, and the job runs only the first time`;
}

function nextTransition(zone: string, now: number): number | null {
  const offset = offsetAt(zone, now);
  for (let day = 1; day <= SEARCHED_DAYS; day++)
    if (offsetAt(zone, now + day * DAY) !== offset) return findOffsetChange(zone, now, now + day * DAY);
  return null;
}

/** Formats a wall time as `02:30`. */
const wall = (at: number): string => new Date(at).toISOString().slice(11, 16);
