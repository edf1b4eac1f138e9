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
