import { invalidValue } from '../errors.ts';

/** Parses a plain decimal number, not `1e3` or `0x10`. Throws if it is outside the range. Errors call the value `what`. */
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

/** Errors do not mention a range whose maximum is this large, because it is no practical limit. */
const UNLIMITED_MAX = 1e15;

/** Returns the number if it is within the range. Otherwise throws an error with `shown`, the value as it was given. */
export function checkNumber(value: number, what: string, range: NumberRange, shown: unknown = value): number {
  const fits = range.integer ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!fits || value < range.min || value > range.max) {
    const kind = range.integer ? 'a whole number' : 'a number';
    const limits = range.max < UNLIMITED_MAX ? ` from ${range.min} to ${range.max}` : '';
    throw invalidValue(`${what} must be ${kind}${limits}, not '${shown}'`);
  }
  return value;
}

const SIZE_UNITS: Record<string, number> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** Parses a size such as `512`, `64k`, `10M` or `1GiB`. Units are powers of 1024. */
export function parseSize(text: string, what: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text.trim());
  if (match === null)
    throw invalidValue(`${what}: invalid size '${text}'`, 'use a size such as 64k, 10M or 1G');
  return Math.round(Number(match[1]) * SIZE_UNITS[match[2]!.toLowerCase()]!);
}

/** Formats a size for people: `512 B`, `1.5 KiB`, `47 MiB`. */
export function formatBytes(bytes: number): string {
  const unit = ['t', 'g', 'm', 'k'].find((one) => bytes >= SIZE_UNITS[one]!);
  if (unit === undefined) return `${bytes} B`;
  const amount = bytes / SIZE_UNITS[unit]!;
  return `${amount < 10 ? Math.floor(amount * 10) / 10 : Math.floor(amount)} ${unit.toUpperCase()}iB`;
}

/** Formats a whole number for people: `1,234`. */
export function formatCount(count: number): string {
  if (count < 1000) return String(count);
  return `${formatCount(Math.floor(count / 1000))},${String(count % 1000).padStart(3, '0')}`;
}

/** Formats a share from 0 to 1 for people: `59%`. Only 1 becomes `100%`, and only 0 becomes `0%`. */
export function formatPercent(share: number): string {
  const whole = Math.round(share * 100);
  if (share > 0 && whole === 0) return '<1%';
  return `${share < 1 && whole === 100 ? 99 : whole}%`;
}

/** Formats a size as settings accept it: `64K`, `10M`. */
export function formatSize(bytes: number): string {
  for (const unit of ['t', 'g', 'm', 'k']) {
    const size = SIZE_UNITS[unit]!;
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit.toUpperCase()}`;
  }
  return String(bytes);
}
