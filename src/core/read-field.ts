import { COMMAND_LIMIT, checkCommand, checkUnmasked } from './command-text.ts';
import { checkVariableName } from './environment.ts';
import { checkName, checkReadable } from './id.ts';
import { BACKOFF_STRATEGIES, type BackoffStrategy, PRIORITIES } from './job.ts';
import { holdsMask, MASK } from './mask-text.ts';
import { checkNumber, type NumberRange } from './numbers.ts';
import { invalid, kindOf, readChoice, readDelay, readNumber, readString, readTextMap } from './read-value.ts';
import { checkRunsOn } from './runs-on.ts';
import { RANGES } from './settings.ts';
import { parseTime } from './time.ts';
import { isNone } from './words.ts';

/* The readers of the table of job fields. Each checks and converts a value, or throws an error with the name of the field. */

/** Returns a reader of text that passes a check. */
export const checked =
  (check: (text: string, name: string) => string) =>
  (value: unknown, name: string): string =>
    check(readString(value, name), name);

/** Returns a reader of numbers in a range. */
export const inRange =
  (range: NumberRange) =>
  (value: unknown, name: string): number =>
    checkNumber(readNumber(value, name), name, range);

/** Returns a reader that converts a duration to milliseconds. A number without a unit is multiplied by `unitMs`. */
export const delay =
  (unitMs: number, min = 0) =>
  (value: unknown, name: string): number =>
    readDelay(value, name, unitMs, min);

/** Returns a reader like that of `delay`. It reads `none` as null and refuses 0. */
export const timeout =
  (unitMs: number) =>
  (value: unknown, name: string): number | null =>
    typeof value === 'string' && isNone(value) ? null : readDelay(value, name, unitMs, 1);

/** Reads a label or a host. It reads `none` as null. */
export const runsOn = (value: unknown, name: string): string | null =>
  checkRunsOn(readString(value, name), name);

/** Reads a switch. False means the same as a field that is not set. */
export function switchedOn(value: unknown, name: string): boolean | undefined {
  if (typeof value !== 'boolean') throw invalid(`${name} must be true or false, not ${kindOf(value)}`);
  return value || undefined;
}

export const command = checked(checkCommand);

export function argv(value: unknown, name: string): string[] {
  if (!Array.isArray(value) || value.length === 0)
    throw invalid(`${name} must be a non-empty array of strings`);
  for (const [i, part] of value.entries()) {
    const text = readString(part, `${name}[${i}]`);
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
  const variables = readTextMap(value, name);
  for (const [key, text] of Object.entries(variables)) {
    checkVariableName(key, name);
    if (text.includes('\0')) throw invalid(`${name}: ${key} must not contain NUL bytes`);
    if (holdsMask(text))
      throw invalid(
        `${name}: the value of ${key} is ${MASK}, which stands for a masked secret`,
        'use the real value, or list the name in secret_env',
      );
    if (Buffer.byteLength(key) + Buffer.byteLength(text) >= COMMAND_LIMIT)
      throw invalid(`${name}: ${key} is longer than ${COMMAND_LIMIT} bytes`);
  }
  return variables;
}

export function tags(value: unknown, name: string): Record<string, string> {
  const given = readTextMap(Array.isArray(value) ? tagsFromNames(value, name) : value, name);
  for (const [key, text] of Object.entries(given)) {
    checkName(key, `${name} key`);
    checkReadable(text, `${name}: ${key}`);
  }
  return given;
}

/** Returns tags with these names and empty values. */
function tagsFromNames(names: unknown[], name: string): Record<string, string> {
  return Object.fromEntries(names.map((one, i) => [readString(one, `${name}[${i}]`), '']));
}

export function priority(value: unknown, name: string): number {
  if (typeof value === 'string') {
    const named = PRIORITIES.get(value.trim().toLowerCase());
    if (named !== undefined) return named;
    throw invalid(
      `${name} must be a whole number or one of ${[...PRIORITIES.keys()].join(', ')}, not '${value}'`,
    );
  }
  return checkNumber(readNumber(value, name), name, RANGES.priority);
}

export function uniqueWhile(value: unknown, name: string): 'pending' | 'active' {
  if (value === 'pending' || value === 'active') return value;
  throw invalid(`${name} must be pending or active, not '${String(value)}'`);
}

export function strategy(value: unknown, name: string): BackoffStrategy {
  return readChoice(BACKOFF_STRATEGIES, String(value).trim().toLowerCase(), name, value);
}

export function time(value: unknown, name: string, now: number): number {
  if (isDate(value)) return parseTime(value.toJSON() ?? String(value), name, now);
  return parseTime(typeof value === 'string' ? value : String(readNumber(value, name)), name, now);
}

/** Also recognizes a `Date` of another realm, such as that of a test runner. */
function isDate(value: unknown): value is Date {
  return Object.prototype.toString.call(value) === '[object Date]';
}
