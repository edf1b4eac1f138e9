import { formatCount } from './numbers.ts';

export function countOf(count: number, noun = 'job'): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Makes "were not held" into "was not held" for a count of one. */
export function saidOf(count: number, what: string): string {
  return count === 1 ? what.replace(/^were\b/, 'was') : what;
}

/** Makes the first letter a capital. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Joins words as in `dead, cancelled or failed`. */
export function either(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
