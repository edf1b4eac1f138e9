import { COMMAND_LIMIT, checkCommand, checkUnmasked } from './command-text.ts';
import { checkVariable } from './environment.ts';
import { checkName, checkReadable } from './id.ts';
import { BACKOFF_STRATEGIES, type BackoffStrategy, PRIORITIES } from './job.ts';
import { holdsMask, MASK } from './mask.ts';
import { checkNumber, type NumberRange } from './numbers.ts';
import { boolean, invalid, number, readDelay, readDuration, string, strings } from './read-value.ts';
import { RANGES } from './settings.ts';
import { parseTime } from './time.ts';

/*
 * The readers of the table of job fields. Each checks a value and converts it, or throws an error with the field's name.
 */

/** Returns a reader of text that passes a check. */
export const checked =
  (check: (text: string, name: string) => string) =>
  (value: unknown, name: string): string =>
    check(string(value, name), name);

export const inRange =
  (range: NumberRange) =>
  (value: unknown, name: string): number =>
    checkNumber(number(value, name), name, range);

/** Returns a reader of durations in milliseconds. A number counts in `unit` milliseconds. */
export const delay =
  (unit: number, min = 0) =>
  (value: unknown, name: string): number =>
    readDelay(value, name, unit, min);

/** Does the same for durations that may be `none`. */
export const timeout =
  (unit: number) =>
  (value: unknown, name: string): number | null =>
    readDuration(value, name, unit);

/** Reads a switch. False asks for nothing. */
export const switchedOn = (value: unknown, name: string): boolean | undefined =>
  boolean(value, name) || undefined;

export const command = checked(checkCommand);

export function argv(value: unknown, name: string): string[] {
  if (!Array.isArray(value) || value.length === 0)
    throw invalid(`${name} must be a non-empty array of strings`);
  for (const [i, part] of value.entries()) {
    const text = string(part, `${name}[${i}]`);
    if (text.includes('\0')) throw invalid(`${name}[${i}] must not contain NUL bytes`);
    checkUnmasked(text, `${name}[${i}]`);
    if (Buffer.byteLength(text) > COMMAND_LIMIT)
      throw invalid(`${name}[${i}] is longer than ${COMMAND_LIMIT} bytes`);
  }
  if (value[0].trim() === '') throw invalid(`${name}[0] must not be empty`);
  return value;
}

export const directory = checked((text, name) => {
  if (!text.startsWith('/') || text.includes('\0')) throw invalid(`${name} must be an absolute path`);
  return text;
});

export function env(value: unknown, name: string): Record<string, string> {
  const variables = strings(value, name);
  for (const [key, text] of Object.entries(variables)) {
    checkVariable(key, name);
    if (text.includes('\0')) throw invalid(`${name}: ${key} must not contain NUL bytes`);
    if (holdsMask(text))
      throw invalid(
        `${name}: the value of ${key} is ${MASK}, which stands for a masked secret`,
        'give the real value, or list the name in secret_env',
      );
    if (Buffer.byteLength(key) + Buffer.byteLength(text) >= COMMAND_LIMIT)
      throw invalid(`${name}: ${key} is longer than ${COMMAND_LIMIT} bytes`);
  }
  return variables;
}

export function tags(value: unknown, name: string): Record<string, string> {
  const given = strings(Array.isArray(value) ? withoutValues(value, name) : value, name);
  for (const [key, text] of Object.entries(given)) {
    checkName(key, `${name} key`);
    checkReadable(text, `${name}: ${key}`);
  }
  return given;
}

/** A list of names gives tags with empty values. */
function withoutValues(names: unknown[], name: string): Record<string, string> {
  return Object.fromEntries(names.map((one, i) => [string(one, `${name}[${i}]`), '']));
}

export function priority(value: unknown, name: string): number {
  if (typeof value === 'string') {
    const named = PRIORITIES.get(value.trim().toLowerCase());
    if (named !== undefined) return named;
    throw invalid(
      `${name} must be a whole number or one of ${[...PRIORITIES.keys()].join(', ')}, not '${value}'`,
    );
  }
  return checkNumber(number(value, name), name, RANGES.priority);
}

export function uniqueWhile(value: unknown, name: string): 'pending' | 'active' {
  if (value === 'pending' || value === 'active') return value;
  throw invalid(`${name} must be pending or active, not '${String(value)}'`);
}

export function strategy(value: unknown, name: string): BackoffStrategy {
  const found = BACKOFF_STRATEGIES.find((one) => one === String(value).trim().toLowerCase());
  if (found !== undefined) return found;
  throw invalid(`${name} must be one of ${BACKOFF_STRATEGIES.join(', ')}, not '${String(value)}'`);
}

export function time(value: unknown, name: string, now: number): number {
  return parseTime(typeof value === 'string' ? value : String(number(value, name)), name, now);
}
