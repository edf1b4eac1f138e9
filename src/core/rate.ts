import { exactDuration } from './duration.ts';
import { QueueError } from './errors.ts';
import { isNone } from './words.ts';

/** A rate limit: at most `jobs` starts in any period of `perMs`. */
export interface Rate {
  jobs: number;
  perMs: number;
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
