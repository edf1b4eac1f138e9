import { formatCount } from './numbers.ts';

/** Returns a count with its noun, such as `1 job` or `2 jobs`. */
export function countOf(count: number, noun = 'job'): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Puts the verb of a predicate into the singular for a count of one: "are not held" becomes "is not held". */
export function verbFor(count: number, predicate: string): string {
  return count === 1 ? predicate.replace(/^are\b/, 'is').replace(/^were\b/, 'was') : predicate;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Tells whether a text is `none`, in upper or lower case. */
export function isNone(text: string): boolean {
  return text.trim().toLowerCase() === 'none';
}

/** Joins words as in `dead, cancelled or failed`. */
export function joinWithOr(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
