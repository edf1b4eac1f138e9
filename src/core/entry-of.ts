/** Returns the entry of a table for a word that somebody typed. Words such as `constructor` have none. */
export function entryOf<T>(table: Readonly<Record<string, T>>, word: string | undefined): T | undefined {
  return word !== undefined && Object.hasOwn(table, word) ? table[word] : undefined;
}
