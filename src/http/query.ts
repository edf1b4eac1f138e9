import { refuse } from './problem.ts';

/** A query that is true, false or not there: then false. */
export function trueOrFalse(one: (query: string) => string | undefined, name: string): boolean {
  const text = one(name);
  if (text !== undefined && text !== 'true' && text !== 'false')
    refuse('invalid-value', `${name} must be true or false`);
  return text === 'true';
}
