import { isEveryHour, readCron } from './cron.ts';
import type { Timing } from './schedule.ts';
import { offsetAt, transition } from './zone.ts';

/** The next time that the clocks of a schedule's zone are set, and what that does to it. */
export interface ClockChange {
  at: number;
  says: string;
}

const DAY = 86_400_000;
const SECOND = 1000;
const YEAR_DAYS = 370;

/** Null: it has no zone, or its clocks are not set within a year. */
export async function clockChange(timing: Timing, now: number): Promise<ClockChange | null> {
  if (timing.kind === 'every') return null;
  const { zone, cron } = timing;
  const at = nextTransition(zone, now);
  if (at === null) return null;
  const [before, after] = [at + offsetAt(zone, at - 1), at + offsetAt(zone, at)];
  const next = await readCron(cron);
  const first = next(Math.min(before, after) - SECOND);
  const falls = first !== null && first < Math.max(before, after);
  const clock = `clocks in ${zone} change from ${wall(before)} to ${wall(after)}`;
  return { at, says: `${clock}: ${effect(cron, first, falls, after - before)}` };
}

function effect(cron: string, first: number | null, falls: boolean, by: number): string {
  if (!falls) return 'no run is affected';
  if (isEveryHour(cron)) return 'runs continue at the same interval';
  return by > 0
    ? `the ${wall(first!)} run starts at ${wall(first! + by)} instead`
    : `${wall(first!)} occurs twice, and only the first one runs`;
}

function nextTransition(zone: string, now: number): number | null {
  const offset = offsetAt(zone, now);
  for (let day = 1; day <= YEAR_DAYS; day++)
    if (offsetAt(zone, now + day * DAY) !== offset) return transition(zone, now, now + day * DAY);
  return null;
}

/** As the clock on the wall shows it. */
const wall = (at: number): string => new Date(at).toISOString().slice(11, 16);
