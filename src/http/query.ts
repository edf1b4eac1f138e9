import { type NumberRange, parseNumber } from '../core/numbers.ts';
import { refuse } from './problem.ts';

/** Returns the value of a query parameter, or undefined if it is missing. */
export type QueryReader = (name: string) => string | undefined;

/** Reads a query parameter that is true or false. Returns false if it is missing. */
export function booleanOf(one: QueryReader, name: string): boolean {
  const text = one(name);
  if (text !== undefined && text !== 'true' && text !== 'false')
    refuse('invalid-value', `${name} must be true or false`);
  return text === 'true';
}

/** Reads a query parameter that is a number. Returns `defaultValue` if it is missing. */
export function numberOf<T>(one: QueryReader, name: string, range: NumberRange, defaultValue: T): number | T {
  const text = one(name);
  return text === undefined ? defaultValue : parseNumber(text, name, range);
}
