import { isEveryHour, readCron } from './cron.ts';
import type { Timing } from './schedule.ts';
import { findOffsetChange, offsetAt } from './zone.ts';

/** A clock change in a schedule's time zone. `says` describes the change and its effect on the schedule. */
export interface ClockChange {
  at: number;
  says: string;
}

const DAY_MS = 86_400_000;
const SECOND_MS = 1000;
const SEARCH_DAYS = 370;

/** Returns the next clock change for a cron schedule, or null if there is none within about a year. A fixed interval has none. */
export async function nextClockChange(timing: Timing, now: number): Promise<ClockChange | null> {
  if (timing.kind === 'every') return null;
  const { zone, cron } = timing;
  const at = nextOffsetChange(zone, now);
  if (at === null) return null;
  const [wallBefore, wallAfter] = [at + offsetAt(zone, at - 1), at + offsetAt(zone, at)];
  const nextWall = await readCron(cron);
  const firstRun = nextWall(Math.min(wallBefore, wallAfter) - SECOND_MS);
  const isAffected = firstRun !== null && firstRun < Math.max(wallBefore, wallAfter);
  const clock = `clocks in ${zone} change from ${wallText(wallBefore)} to ${wallText(wallAfter)}`;
  return { at, says: `${clock}, ${effectText(cron, firstRun, isAffected, wallAfter - wallBefore)}` };
}

function effectText(cron: string, firstRun: number | null, isAffected: boolean, shiftMs: number): string {
  if (!isAffected) return 'but no run is affected';
  if (isEveryHour(cron)) return 'but the runs keep their interval';
  return shiftMs > 0
    ? `so the ${wallText(firstRun!)} run starts at ${wallText(firstRun! + shiftMs)} instead`
    : `so ${wallText(firstRun!)} occurs twice, and the job runs only the first time`;
}

function nextOffsetChange(zone: string, now: number): number | null {
  const offset = offsetAt(zone, now);
  for (let day = 1; day <= SEARCH_DAYS; day++)
    if (offsetAt(zone, now + day * DAY_MS) !== offset) return findOffsetChange(zone, now, now + day * DAY_MS);
  return null;
}

/** Formats a wall time as `02:30`. */
const wallText = (at: number): string => new Date(at).toISOString().slice(11, 16);
