/** Returns the entry of a table for a word that somebody typed. Inherited properties such as `constructor` do not count. */
export function entryOf<T>(table: Readonly<Record<string, T>>, word: string | undefined): T | undefined {
  return word !== undefined && Object.hasOwn(table, word) ? table[word] : undefined;
}
