import { checkDuration, parseDuration } from './duration.ts';
import { QueueError } from './errors.ts';
import { RANGES } from './settings.ts';

/* These functions check the values of a job object, which may be of any type. They throw an error that names the field. */

/** Reads a duration of at least `min` ms. A number without a unit is multiplied by `unitMs`. */
export function readDelay(value: unknown, name: string, unitMs = 1000, min = 0): number {
  const ms =
    typeof value === 'string'
      ? parseDuration(value, name, unitMs === 1 ? 'ms' : 's')
      : Math.round(readNumber(value, name) * unitMs);
  return checkDuration(ms, name, { ...RANGES.durationMs, min }, value);
}

export function readString(value: unknown, name: string): string {
  if (typeof value !== 'string') throw invalid(`${name} must be a string, not ${kindOf(value)}`);
  if (!value.isWellFormed()) throw invalid(`${name} is not valid Unicode`);
  return value;
}

export function readNumber(value: unknown, name: string): number {
  if (typeof value !== 'number') throw invalid(`${name} must be a number, not ${kindOf(value)}`);
  return value;
}

/** Reads an object whose values are strings. */
export function readTextMap(value: unknown, name: string): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`${name} must be an object of strings, not ${kindOf(value)}`);
  }
  for (const [key, text] of Object.entries(value)) readString(text, `${name}.${key}`);
  // Even a key such as __proto__ becomes an own property of the copy.
  return Object.fromEntries(Object.entries(value as Record<string, string>));
}

/** Returns the value if it is one of the choices. Otherwise throws an error that shows `shown`. */
export function readChoice<T extends string>(
  choices: readonly T[],
  value: unknown,
  name: string,
  shown = value,
): T {
  const found = choices.find((one) => one === value);
  if (found !== undefined) return found;
  throw invalid(`${name} must be one of ${choices.join(', ')}, not '${String(shown)}'`);
}

/** Returns the type of a value as errors show it, such as `an array`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export function invalid(message: string, hint?: string): QueueError {
  return new QueueError('invalid-job', message, hint);
}
