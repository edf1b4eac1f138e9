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

/** Returns the next clock change within about a year. Returns null if there is none, or if the schedule has a fixed interval. */
export async function nextClockChange(timing: Timing, now: number): Promise<ClockChange | null> {
  if (timing.kind === 'every') return null;
  const { zone, cron } = timing;
  const at = nextOffsetChange(zone, now);
  if (at === null) return null;
  const [wallBefore, wallAfter] = [at + offsetAt(zone, at - 1), at + offsetAt(zone, at)];
  const nextWall = await readCron(cron);
  const nextRun = nextWall(Math.min(wallBefore, wallAfter) - SECOND_MS);
  const affectedRun = nextRun !== null && nextRun < Math.max(wallBefore, wallAfter) ? nextRun : null;
  const changeText = `clocks in ${zone} change from ${wallText(wallBefore)} to ${wallText(wallAfter)}`;
  return { at, says: `${changeText}, ${effectText(cron, affectedRun, wallAfter - wallBefore)}` };
}

/** `affectedRun` is the first run at a skipped or repeated wall time, or null if there is none. */
function effectText(cron: string, affectedRun: number | null, shiftMs: number): string {
  if (affectedRun === null) return 'but no run is affected';
  if (isEveryHour(cron)) return 'but the runs keep their interval';
  return shiftMs > 0
    ? `so the ${wallText(affectedRun)} run starts at ${wallText(affectedRun + shiftMs)} instead`
    : `so ${wallText(affectedRun)} occurs twice, and the job runs only the first time`;
}

function nextOffsetChange(zone: string, now: number): number | null {
  const offsetOf = (instant: number): number => offsetAt(zone, instant);
  for (let at = now + DAY_MS; at <= now + SEARCH_DAYS * DAY_MS; at += DAY_MS)
    if (offsetOf(at) !== offsetOf(now)) return findOffsetChange(offsetOf, now, at);
  return null;
}

/** Formats a wall time (see zone.ts) as `02:30`. */
const wallText = (wall: number): string => new Date(wall).toISOString().slice(11, 16);
