import { QueueError } from './errors.ts';

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A number with its unit. Not from the middle of a number, which would be looked at again from every digit. */
const PART = /(?<![\d.])(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

export type DurationUnit = 'ms' | 's';

/** `500ms 30s 5m 2h 1d 1h30m`; a bare number counts in `bare` (seconds unless the name says otherwise). */
export function parseDuration(text: string, what: string, bare: DurationUnit = 's'): number {
  const trimmed = text.trim().toLowerCase();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Math.round(Number(trimmed) * UNIT_MS[bare]!);
  if (trimmed === '' || trimmed.replace(PART, '') !== '') {
    throw new QueueError('invalid-duration', `${what}: '${text}' is not a duration`);
  }
  let total = 0;
  let last = Number.POSITIVE_INFINITY;
  for (const [, amount, unit] of trimmed.matchAll(PART)) {
    const size = UNIT_MS[unit!]!;
    // 30m1h and 5s5s are more likely typing errors than wishes.
    if (size >= last) throw new QueueError('invalid-duration', `${what}: '${text}' is not a duration`);
    last = size;
    total += Number(amount) * size;
  }
  return Math.round(total);
}

/** A duration in a range, which is told in the units that people type. */
export function checkDuration(
  ms: number,
  what: string,
  range: { min: number; max: number },
  shown: unknown,
): number {
  if (ms >= range.min && ms <= range.max) return ms;
  throw new QueueError(
    'invalid-value',
    `${what} must be from ${exactDuration(range.min)} to ${exactDuration(range.max)}, not '${shown}'`,
  );
}

/** `320ms`, `3.25s`, `4m12s`, `1h5m`, `2d3h`: the two units that matter. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 59_995) return `${trimZeros((ms / 1000).toFixed(2))}s`;
  for (const [unit, size, below, belowSize] of [
    ['m', 60_000, 's', 1000],
    ['h', 3_600_000, 'm', 60_000],
    ['d', 86_400_000, 'h', 3_600_000],
  ] as const) {
    const whole = Math.floor((ms + 5) / size);
    const limit = unit === 'm' ? 60 : unit === 'h' ? 24 : Number.POSITIVE_INFINITY;
    if (whole < limit) {
      const rest = Math.floor(((ms + 5) % size) / belowSize);
      return rest === 0 ? `${whole}${unit}` : `${whole}${unit}${rest}${below}`;
    }
  }
  return `${ms}ms`;
}

/** The shortest text that parses back to the same number of milliseconds. */
export function exactDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's']) {
    const size = UNIT_MS[unit]!;
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}

function trimZeros(text: string): string {
  return String(Number(text));
}
