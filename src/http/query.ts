import { type NumberRange, parseNumber } from '../core/numbers.ts';
import { refuse } from './problem.ts';

/** The first query of a name. */
type One = (query: string) => string | undefined;

/** A query that is true, false or not there: then false. */
export function trueOrFalse(one: One, name: string): boolean {
  const text = one(name);
  if (text !== undefined && text !== 'true' && text !== 'false')
    refuse('invalid-value', `${name} must be true or false`);
  return text === 'true';
}

/** A query that is a number, or not there. */
export function numberOf<T>(one: One, name: string, range: NumberRange, otherwise: T): number | T {
  const text = one(name);
  return text === undefined ? otherwise : parseNumber(text, name, range);
}
