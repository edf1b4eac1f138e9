import { invalidValue, QueueError } from '../errors.ts';

const UNIT_MS: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Matches a number with its unit. The lookbehind keeps the run time linear: no match starts inside a number. */
const PART = /(?<![\d.])(\d+(?:\.\d+)?)(ms|[smhd])(?: (?=\d)|$|(?=\d))/g;

export type DurationUnit = 'ms' | 's';

/** Parses `500ms`, `30s`, `1h30m` or, as queuectl prints it, `1h 30m`. A number without a unit is in `bareUnit`. Errors call the value `what`. */
export function parseDuration(text: string, what: string, bareUnit: DurationUnit = 's'): number {
  const words = text.trim().toLowerCase();
  if (/^\d+(\.\d+)?$/.test(words)) return Math.round(Number(words) * UNIT_MS[bareUnit]!);
  if (words === '' || words.replace(PART, '') !== '') throw invalid(text, what);
  let total = 0;
  let lastUnitMs = Number.POSITIVE_INFINITY;
  for (const [, amount, unit] of words.matchAll(PART)) {
    const unitMs = UNIT_MS[unit!]!;
    // 30m1h and 5s5s are probably typing errors.
    if (unitMs >= lastUnitMs) throw invalid(text, what);
    lastUnitMs = unitMs;
    total += Number(amount) * unitMs;
  }
  return Math.round(total);
}

/** Returns the duration if it is within the range. Otherwise throws an error with the range and `shown`, the value as it was given. */
export function checkDuration(
  ms: number,
  what: string,
  range: { min: number; max: number },
  shown: unknown,
): number {
  if (ms >= range.min && ms <= range.max) return ms;
  throw invalidValue(
    `${what} must be a duration from ${exactDuration(range.min)} to ${exactDuration(range.max)}, not '${shown}'`,
  );
}

/** Formats a duration for people: `320ms`, `3.2s`, `54s`, `1m 4s`, `2h 5m`, `3d 4h`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)}ms`;
  if (ms < 9950) return `${Number((ms / 1000).toFixed(1))}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < HOUR_S) return twoUnits(seconds, 60, 'm', 1, 's');
  if (seconds < DAY_S) return twoUnits(seconds, HOUR_S, 'h', 60, 'm');
  return twoUnits(seconds, DAY_S, 'd', HOUR_S, 'h');
}

const HOUR_S = 3600;
const DAY_S = 86_400;

function twoUnits(seconds: number, unitS: number, unit: string, lowerS: number, lower: string): string {
  const rest = Math.floor((seconds % unitS) / lowerS);
  return `${Math.floor(seconds / unitS)}${unit}${rest === 0 ? '' : ` ${rest}${lower}`}`;
}

/** Formats a time by its distance from now: `3m ago`, `in 12s`, `now`. */
export function formatRelative(at: number, now: number): string {
  const distance = Math.abs(at - now);
  if (distance < 1000) return 'now';
  const rounded = formatDuration(Math.round(distance / 1000) * 1000);
  return at > now ? `in ${rounded}` : `${rounded} ago`;
}

/** Formats a duration with one unit, so that it parses back to the same number of milliseconds. */
export function exactDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's']) {
    const unitMs = UNIT_MS[unit]!;
    if (ms >= unitMs && ms % unitMs === 0) return `${ms / unitMs}${unit}`;
  }
  return `${ms}ms`;
}

function invalid(text: string, what: string): QueueError {
  return new QueueError('invalid-duration', `${what}: invalid duration '${text}'`);
}
