import { formatCount } from './numbers.ts';

/** Sentences about one or many, worded in one place. */

export function countOf(count: number, noun = 'job'): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** What is said of so many: "were not held" of one is "was not held". */
export function saidOf(count: number, what: string): string {
  return count === 1 ? what.replace(/^were\b/, 'was') : what;
}

/** `dead, cancelled or failed`. */
export function either(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
