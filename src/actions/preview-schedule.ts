import { clockChange } from '../core/clock-change.ts';
import { timingText } from '../core/cron-text.ts';
import type { Timing } from '../core/schedule.ts';
import { toIso } from '../core/time.ts';
import { fireTimes, nextTimes } from '../core/times.ts';
import { checkTiming } from './schedules.ts';

const SHOWN = 5;

export interface TimesObject {
  cron: string | null;
  timezone: string | null;
  every_ms: number | null;
  /** In words. */
  text: string;
  next_runs: string[];
  /** The next time that the clocks of its zone are set; null: not within a year. */
  clock_change: { at: string; says: string } | null;
}

/** What a schedule would do: nothing is added. */
export async function previewSchedule(given: Timing, now: number): Promise<TimesObject> {
  const { timing } = await checkTiming(given, now);
  const change = await clockChange(timing, now);
  return {
    cron: timing.kind === 'cron' ? timing.cron : null,
    timezone: timing.kind === 'cron' ? timing.zone : null,
    every_ms: timing.kind === 'every' ? timing.everyMs : null,
    text: timingText(timing),
    next_runs: nextTimes(await fireTimes(timing), now, SHOWN).map((at) => toIso(at)),
    clock_change: change === null ? null : { at: toIso(change.at), says: change.says },
  };
}
