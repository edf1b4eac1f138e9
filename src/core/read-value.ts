import { checkDuration, parseDuration } from './duration.ts';
import { QueueError } from './errors.ts';
import { RANGES } from './settings.ts';

/* These functions check the values of a job object, which may be of any type. They throw an error that names the field. */

export function readDuration(value: unknown, name: string, unit: number): number | null {
  if (typeof value === 'string') {
    if (value.trim().toLowerCase() === 'none') return null;
    return checkDuration(parseDuration(value, name, unit === 1 ? 'ms' : 's'), name, RANGES.durationMs, value);
  }
  return checkDuration(Math.round(number(value, name) * unit), name, RANGES.durationMs, value);
}

export function readDelay(value: unknown, name: string, unit = 1000, min = 0): number {
  const ms =
    typeof value === 'string'
      ? parseDuration(value, name, unit === 1 ? 'ms' : 's')
      : Math.round(number(value, name) * unit);
  return checkDuration(ms, name, { ...RANGES.durationMs, min }, value);
}

export function string(value: unknown, name: string): string {
  if (typeof value !== 'string') throw invalid(`${name} must be a string, not ${kindOf(value)}`);
  if (!value.isWellFormed()) throw invalid(`${name} is not valid Unicode`);
  return value;
}

export function boolean(value: unknown, name: string): boolean {
  if (typeof value !== 'boolean') throw invalid(`${name} must be true or false, not ${kindOf(value)}`);
  return value;
}

export function number(value: unknown, name: string): number {
  if (typeof value !== 'number') throw invalid(`${name} must be a number, not ${kindOf(value)}`);
  return value;
}

export function strings(value: unknown, name: string): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`${name} must be an object of strings, not ${kindOf(value)}`);
  }
  for (const [key, text] of Object.entries(value)) string(text, `${name}.${key}`);
  // The copy has own properties only, also for a key such as __proto__.
  return Object.fromEntries(Object.entries(value as Record<string, string>));
}

export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export function invalid(message: string, hint?: string): QueueError {
  return new QueueError('invalid-job', message, hint);
}
