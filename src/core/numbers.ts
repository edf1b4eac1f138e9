import { QueueError } from './errors.ts';

/** Plain decimal numbers only: `1e3`, `0x10`, ` 5 x` and what a double cannot hold are refused, nothing is clamped. */
export function parseNumber(text: string, what: string, range: NumberRange): number {
  const trimmed = text.trim();
  const pattern = range.integer ? /^-?\d+$/ : /^-?\d+(\.\d+)?$/;
  return checkNumber(pattern.test(trimmed) ? Number(trimmed) : Number.NaN, what, range, text);
}

export interface NumberRange {
  min: number;
  max: number;
  integer: boolean;
}

export function checkNumber(value: number, what: string, range: NumberRange, shown: unknown = value): number {
  const fits = range.integer ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!fits || value < range.min || value > range.max) {
    const kind = range.integer ? 'a whole number' : 'a number';
    throw new QueueError(
      'invalid-value',
      `${what} must be ${kind} from ${range.min} to ${range.max}, not '${shown}'`,
    );
  }
  return value;
}

const SIZE_UNITS: Record<string, number> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** `512`, `64k`, `10M`, `1GiB`: powers of 1024. */
export function parseSize(text: string, what: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text.trim());
  if (match === null)
    throw new QueueError(
      'invalid-value',
      `${what}: '${text}' is not a size`,
      'write a size such as 64k, 10M or 1G',
    );
  return Math.round(Number(match[1]) * SIZE_UNITS[match[2]!.toLowerCase()]!);
}

/** For people: `1023 bytes`, `1.5K`, `20M`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const unit = ['t', 'g', 'm', 'k'].find((one) => bytes >= SIZE_UNITS[one]!)!;
  const amount = bytes / SIZE_UNITS[unit]!;
  return `${amount < 10 ? Math.floor(amount * 10) / 10 : Math.floor(amount)}${unit.toUpperCase()}`;
}

export function formatSize(bytes: number): string {
  for (const unit of ['t', 'g', 'm', 'k']) {
    const size = SIZE_UNITS[unit]!;
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit.toUpperCase()}`;
  }
  return String(bytes);
}
