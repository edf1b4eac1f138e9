import { QueueError } from '../errors.ts';
import { RANGES } from '../settings/settings.ts';
import { checkNumber, formatBytes, type NumberRange } from '../text/numbers.ts';
import { isNone } from '../text/words.ts';
import { checkDuration, parseDuration } from '../time/duration.ts';
import { parseTime } from '../time/time.ts';
import { integer, listOf, type Schema, text } from '../wire/schema.ts';
import { COMMAND_LIMIT, checkCommand, checkUnmasked, holdsMask, MASK } from './command-text.ts';
import { checkName, checkReadable } from './id.ts';
import { BACKOFF_STRATEGIES, type BackoffStrategy, PRIORITIES } from './job.ts';

/* These functions check the values of a job object, which may be of any type. They throw an error that names the field. */

/** Reads a duration of at least `min` ms. A number without a unit is multiplied by `unitMs`. */
export function readDelay(value: unknown, name: string, unitMs = 1000, min = 0): number {
  const ms =
    typeof value === 'string'
      ? parseDuration(value, name, unitMs === 1 ? 'ms' : 's')
      : Math.round(readNumber(value, name) * unitMs);
  return checkDuration(ms, name, { ...RANGES.durationMs, min }, value);
}

function readString(value: unknown, name: string): string {
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

/** Throws if the name is invalid, or if only queuectl may set the variable. */
function checkVariableName(name: string, what: string): void {
  if (!/^[^=\0\s]+$/.test(name)) throw invalid(`${what}: '${name}' is not a valid variable name`);
  // QUEUECTL_SCHEDULE and QUEUECTL_SCHEDULED_AT are allowed, so that a printed job of a schedule can be enqueued again.
  if (/^QUEUECTL_(?!SCHEDULE(D_AT)?$)/.test(name))
    throw invalid(`${what}: ${name} cannot be set, because queuectl sets it itself`);
}

/** Reads names of variables: an array, or a text such as `A,B`. Returns each name once, or undefined for an empty array. */
export function readSecretEnv(value: unknown, what: string): string[] | undefined {
  const parts = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(parts) || parts.some((part) => typeof part !== 'string'))
    throw invalid(`${what} must be an array of variable names`);
  const names = parts.map((part: string) => part.trim());
  for (const name of names) {
    if (name.includes('='))
      throw invalid(`${what} takes variable names only; the values come from the worker's environment`);
    checkVariableName(name, what);
  }
  return names.length === 0 ? undefined : [...new Set(names)];
}

/** The schema of the exit codes in a job object. */
export const EXIT_CODES: Schema<string | number | number[]> = {
  anyOf: [text, integer, listOf(integer)],
  examples: [[1, 75], '1,64-78'],
};

/** Reads exit codes: a number, a text such as `1,64-78`, or an array of single codes and ranges. Returns them sorted, without duplicates. */
export function readExitCodes(value: unknown, what: string): number[] {
  const parts = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [value];
  const codes = new Set<number>();
  for (const part of parts) {
    const [from, to] = rangeOf(part, what);
    for (let code = from; code <= to; code++) codes.add(code);
  }
  if (codes.size === 0) throw invalidCode(value, what);
  return [...codes].sort((a, b) => a - b);
}

function rangeOf(part: unknown, what: string): [number, number] {
  const text = typeof part === 'number' || typeof part === 'string' ? String(part) : '';
  const match = /^\s*(\d{1,3})\s*(?:-\s*(\d{1,3})\s*)?$/.exec(text);
  const from = Number(match?.[1]);
  const to = Number(match?.[2] ?? match?.[1]);
  if (match === null || from > to || to > 255) throw invalidCode(part, what);
  return [from, to];
}

function invalidCode(value: unknown, what: string): QueueError {
  return invalid(
    `${what}: invalid exit code '${String(value)}'`,
    'use exit codes from 0 to 255: one code (75), a list (1,75) or a range (64-78)',
  );
}

/* The readers of the table of job fields. Each checks and converts a value, or throws an error with the name of the field. */

/** Returns a reader of text that passes a check. */
export const checked =
  (check: (text: string, name: string) => string) =>
  (value: unknown, name: string): string =>
    check(readString(value, name), name);

/** Returns a reader of one of these words. */
export const oneOf =
  <T extends string>(choices: readonly T[]) =>
  (value: unknown, name: string): T =>
    readChoice(choices, value, name);

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

/** The maximum size of a job's stdin in bytes. It is kept in the store, so longer input belongs in a file. */
export const STDIN_LIMIT = 1024 ** 2;

export function checkStdin(text: string, name: string): string {
  if (Buffer.byteLength(text) > STDIN_LIMIT) throw stdinTooLong(name);
  return text;
}

export function stdinTooLong(name: string): QueueError {
  return new QueueError(
    'invalid-job',
    `${name} is longer than ${formatBytes(STDIN_LIMIT)}`,
    "let the command read a file: queuectl enqueue 'sort <big.txt'",
  );
}
