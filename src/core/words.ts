import { formatCount } from './numbers.ts';

/** Returns a count with its noun, such as `1 job` or `2 jobs`. */
export function countOf(count: number, noun = 'job'): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Changes "were not held" to "was not held" if the count is one. */
export function forCount(count: number, what: string): string {
  return count === 1 ? what.replace(/^are\b/, 'is').replace(/^were\b/, 'was') : what;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Tells whether a text is `none`, in upper or lower case. */
export function isNone(text: string): boolean {
  return text.trim().toLowerCase() === 'none';
}

/** Joins words as in `dead, cancelled or failed`. */
export function either(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
