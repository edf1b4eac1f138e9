import type { Value } from '../row.ts';

/** Adds a value to a statement, and returns its placeholder. */
export type Bind = (value: Value, type: string) => string;

/** Collects the values of a statement that is put together from parts. */
export function newBinder(): { values: Value[]; bind: Bind } {
  const values: Value[] = [];
  return { values, bind: (value, type) => `$${values.push(value)}::${type}` };
}
