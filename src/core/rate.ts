import { exactDuration } from './duration.ts';
import { QueueError } from './errors.ts';
import { isNone } from './words.ts';

/** A rate limit: at most `jobs` starts in any period of `perMs`. */
export interface Rate {
  jobs: number;
  perMs: number;
}

/** What was left of a rate at the last claim. Null before the first one. */
export interface Tokens {
  left: number;
  at: number;
}

const UNITS = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
const MAX_JOBS = 1_000_000;

/** Parses a rate such as `10/s`, `100/m` or `5/h`. Returns null for `none`. */
export function parseRate(text: string, what: string): Rate | null {
  if (isNone(text)) return null;
  const match = /^\s*(\d+)\s*\/\s*([smh])\s*$/i.exec(text);
  const jobs = Number(match?.[1]);
  if (match === null || jobs < 1 || jobs > MAX_JOBS) {
    throw new QueueError(
      'invalid-value',
      `${what}: invalid rate '${text}'`,
      'use a rate such as 10/s, 100/m or 5/h, or none',
    );
  }
  return { jobs, perMs: UNITS.get(match[2]!.toLowerCase())! };
}

export function formatRate({ jobs, perMs }: Rate): string {
  const unit = [...UNITS].find(([, ms]) => ms === perMs)?.[0] ?? exactDuration(perMs);
  return `${jobs}/${unit}`;
}

/** Unused tokens of at most this time are saved up, so that a rate limit allows no large burst. */
const BURST_MS = 100;

/**
 * Fills the token bucket of a rate. Returns how many jobs it allows now, and when it allows the next one (0 means now). If the
 * clock was set back, the bucket counts as full instead of staying empty.
 */
export function availableTokens(
  { jobs, perMs }: Rate,
  last: Tokens | null,
  now: number,
): { tokens: number; openAt: number } {
  const filling = jobs / perMs;
  const full = Math.max(1, filling * BURST_MS);
  const tokens =
    last === null || last.at > now ? full : Math.min(full, last.left + (now - last.at) * filling);
  return { tokens, openAt: tokens >= 1 ? 0 : now + Math.ceil((1 - tokens) / filling) };
}
