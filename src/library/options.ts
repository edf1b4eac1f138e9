import type { App } from '../actions/app.ts';
import { invalidValue, QueueError } from '../core/errors.ts';
import { kindOf } from '../core/jobs/read-field.ts';
import { removedField } from '../core/jobs/removed-names.ts';
import { RANGES } from '../core/settings/settings.ts';
import type { StopOrder } from '../core/signals.ts';
import { didYouMean } from '../core/text/nearest.ts';
import { checkNumber, type NumberRange, parseNumber } from '../core/text/numbers.ts';
import { checkDuration, parseDuration } from '../core/time/duration.ts';
import type { SqlClient } from '../core/wire/sql-client.ts';

/* These functions check the values that a program passes to the library. In JavaScript, they may be of any type. */

/** Checks a value and converts it, or throws an error that names it. */
type Reader<T> = (value: unknown, name: string) => T;

/** Reads options. Null and undefined count as not given. An unknown option is an error, because a misspelt one would be ignored. */
export function readOptions<R extends Record<string, Reader<unknown>>>(
  given: unknown,
  method: string,
  readers: R,
): { [K in keyof R]?: ReturnType<R[K]> } {
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(checkOptionNames(given, method, Object.keys(readers))))
    if (value !== undefined && value !== null) options[name] = readers[name]!(value, name);
  return options as { [K in keyof R]?: ReturnType<R[K]> };
}

/** Returns the given object, or an empty one for null or undefined. Throws if it has an option that is not in `known`. */
export function checkOptionNames(given: unknown, method: string, known: readonly string[]): object {
  if (given === undefined || given === null) return {};
  if (typeof given !== 'object' || Array.isArray(given))
    throw invalidValue(`the options of ${method} must be an object, not ${kindOf(given)}`);
  for (const name of Object.keys(given))
    if (!known.includes(name)) throw unknownOption(name, given, method, known);
  return given;
}

function unknownOption(name: string, given: object, method: string, known: readonly string[]): QueueError {
  const removed = removedField(name, (given as Record<string, unknown>)[name]);
  if (removed !== null) return new QueueError('usage', `${method}: ${removed.message}`, removed.hint);
  return new QueueError(
    'usage',
    `${method} has no option '${name}'${didYouMean(name, known)}`,
    `the options are ${known.join(', ')}`,
  );
}

export function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw invalidValue(`${name} must be a string, not ${kindOf(value)}`);
  return value;
}

export function nonBlankText(value: unknown, name: string): string {
  if (text(value, name).trim() === '') throw invalidValue(`${name} must not be empty`);
  return value as string;
}

export function flag(value: unknown, name: string): boolean {
  if (typeof value !== 'boolean') throw invalidValue(`${name} must be true or false, not ${kindOf(value)}`);
  return value;
}

/** Accepts a string or an array of strings. Throws for an empty array, which may be a list that was never filled. */
export function texts(value: unknown, name: string): string[] {
  const values = Array.isArray(value) ? value : [value];
  if (values.length === 0) throw invalidValue(`${name} is empty`);
  return values.map((one) => text(one, name));
}

/** Accepts a whole number, or a text that contains one, such as the value of an environment variable. */
export const wholeNumber =
  (range: Omit<NumberRange, 'integer'>): Reader<number> =>
  (value, name) => {
    const whole = { ...range, integer: true };
    return typeof value === 'string'
      ? parseNumber(value, name, whole)
      : checkNumber(value as number, name, whole);
  };

export const count = wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER });

export function callback<T>(value: unknown, name: string): (argument: T) => void {
  if (typeof value !== 'function') throw invalidValue(`${name} must be a function, not ${kindOf(value)}`);
  return value as (argument: T) => void;
}

export function abortSignal(value: unknown, name: string): AbortSignal {
  if (value instanceof AbortSignal) return value;
  throw invalidValue(`${name} must be an AbortSignal, not ${kindOf(value)}`);
}

/** Accepts a client of the package `pg`. */
export function sqlClient(value: unknown): SqlClient {
  if (typeof (value as SqlClient | null)?.query === 'function') return value as SqlClient;
  throw invalidValue(`client must be a connection of the package pg, not ${kindOf(value)}`);
}

/** Throws if an id is not a string. It is a common mistake to pass the job itself. */
export function jobIds(values: unknown[]): string[] {
  return values.map((value) => text(value, 'the job id'));
}

const TIMEOUT_RANGE = { ...RANGES.durationMs, min: 0 };
const duration =
  (unit: 'ms' | 's'): Reader<number> =>
  (value, name) => {
    if (typeof value !== 'number' && typeof value !== 'string')
      throw invalidValue(`${name} must be a duration, not ${kindOf(value)}`);
    const ms =
      typeof value === 'string'
        ? parseDuration(value, name, unit)
        : Math.round(value * (unit === 's' ? 1000 : 1));
    return checkDuration(ms, name, TIMEOUT_RANGE, value);
  };

/** The readers of the options that limit a wait. Both return milliseconds. */
export const TIMEOUT_READERS = { timeout: duration('s'), timeoutMs: duration('ms') };

/** Returns the timeout in milliseconds, or null if there is none. Throws if both options are given. */
export function timeoutOf({ timeout, timeoutMs }: { timeout?: number; timeoutMs?: number }): number | null {
  if (timeout !== undefined && timeoutMs !== undefined)
    throw new QueueError('usage', 'timeout and timeoutMs mean the same; give only one of them');
  return timeout ?? timeoutMs ?? null;
}

/** How to stop workers. */
export interface StopPlan {
  order: StopOrder;
  /** How long the workers may finish their jobs before the order takes effect. Null means that it takes effect at once. */
  timeoutMs: number | null;
}

export function readStopPlan(given: unknown, method: string): StopPlan {
  const options = readOptions(given, method, { force: flag, leave: flag, ...TIMEOUT_READERS });
  const { force = false, leave = false } = options;
  if (force && leave) throw new QueueError('usage', 'use force or leave, not both');
  const timeoutMs = timeoutOf(options);
  // As with the setting stop-timeout, jobs that outlast the timeout are stopped.
  if (force || (timeoutMs !== null && !leave)) return { order: 'force', timeoutMs };
  return { order: leave ? 'leave' : 'drain', timeoutMs };
}

/** An open queue, as the parts of the library share it. */
export interface LibraryQueue {
  /** Returns the app. Throws if the queue is closed or being closed. */
  app(): App;
  /** The author of changes, who is named in events and pauses. */
  actor: string;
  /** Is aborted when the queue begins to close. */
  closing: AbortSignal;
  /** Is aborted when the workers have stopped, before the store is closed. */
  closed: AbortSignal;
  /** Keeps the store open until the work has ended, even if the queue is closed meanwhile. */
  holdOpen<T>(work: Promise<T>): Promise<T>;
}

export function closedError(): QueueError {
  return new QueueError('wrong-state', 'the queue is closed', 'open it again with openQueue()');
}

/** Returns a signal that is aborted as soon as one of the two is aborted. */
export function eitherSignal(queueSignal: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given === undefined ? queueSignal : AbortSignal.any([queueSignal, given]);
}
