export interface SteadyRows<T> {
  rows: T[];
  /** The keys of rows that are no longer in the list. */
  gone: ReadonlySet<string>;
  /** The rows that are in the list but not shown yet. */
  fresh: T[];
}

/**
 * Returns the shown rows in their places, with the latest values. Rows that left the list stay with their last values. `also`
 * has the latest values of rows that may be shown although they are not in the list.
 */
export function keepPlaces<T>(
  shown: T[],
  latest: T[],
  keyOf: (row: T) => string,
  also: T[] = [],
): SteadyRows<T> {
  const now = new Map([...also, ...latest].map((row) => [keyOf(row), row]));
  const keys = new Set(shown.map(keyOf));
  return {
    rows: shown.map((row) => now.get(keyOf(row)) ?? row),
    gone: new Set([...keys].filter((key) => !now.has(key))),
    fresh: latest.filter((row) => !keys.has(keyOf(row))),
  };
}
