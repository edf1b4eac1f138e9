/* Small functions that JavaScript does not have. Every command may load them. */

/** Returns the result of a function, or null if it throws. */
export function orNull<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}

/** Returns the entry of a table for a word that somebody typed. Inherited properties such as `constructor` do not count. */
export function entryOf<T>(table: Readonly<Record<string, T>>, word: string | undefined): T | undefined {
  return word !== undefined && Object.hasOwn(table, word) ? table[word] : undefined;
}

/** Returns the number of bytes of a text in UTF-8. The runtime loads `Buffer` only when this is called. */
export const byteLength = (text: string): number => Buffer.byteLength(text);

/** Returns an iterable of what `make` returns for each item. Nothing is made before it is asked for. */
export function mapped<T, U>(items: Iterable<T>, make: (item: T) => U): Iterable<U> {
  return {
    *[Symbol.iterator]() {
      for (const item of items) yield make(item);
    },
  };
}
