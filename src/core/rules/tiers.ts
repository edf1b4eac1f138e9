const DAY_MS = 86_400_000;
/** How much time a row of figures covers, and how long it is kept. Days are in UTC. One more row covers all time. */
export const TIERS = {
  minute: { stepMs: 60_000, keptMs: 7 * DAY_MS },
  hour: { stepMs: 3_600_000, keptMs: 90 * DAY_MS },
  day: { stepMs: DAY_MS, keptMs: 730 * DAY_MS },
} as const;
export type Tier = keyof typeof TIERS;

/** Only this many names, and pairs of queue and name, have figures of their own. All others share the name OTHER_LABEL. */
export const MAX_NAMES = 200;
export const MAX_PAIRS = 500;
export const OTHER_LABEL = 'other';

/** The numbers of the tiers in the rows of a store. The rows of all time have the number 0. */
export const TIER_NUMBERS: Record<Tier, number> = { minute: 1, hour: 2, day: 3 };
const PERIODS = [
  [TIER_NUMBERS.minute, TIERS.minute.stepMs],
  [TIER_NUMBERS.hour, TIERS.hour.stepMs],
  [TIER_NUMBERS.day, TIERS.day.stepMs],
] as const;

/** The rows that count what happens at a time: that of all time, and those of its minute, hour and day. */
const ALL_PERIODS = [[0, Number.POSITIVE_INFINITY], ...PERIODS] as const;

/** Calls `count` for the row of all time, and for those of the minute, the hour and the day. */
export function inAllTimeAndTiers(at: number, count: (tier: number, start: number) => void): void {
  for (const [tier, stepMs] of ALL_PERIODS) count(tier, at - (at % stepMs));
}

/** Calls `count` for the rows of the minute, the hour and the day. */
export function inEveryTier(at: number, count: (tier: number, start: number) => void): void {
  for (const [tier, stepMs] of PERIODS) count(tier, at - (at % stepMs));
}
