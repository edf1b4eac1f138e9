import type { NamedField } from './field.ts';
import { storedFieldRows } from './stored-field-rows.ts' with { type: 'macro' };

type StoredProperty = 'name' | 'key' | 'in' | 'column' | 'plain' | 'edit' | 'range' | 'default';

/** The properties of a job field that decide how its value is stored. */
export type StoredField = { [K in StoredProperty]: NamedField[K] } & { type: { type: unknown } };

let fields: readonly StoredField[] | null = null;

/**
 * Returns the rows of the table of job fields whose values are stored, with only the properties that the store needs. The bundler
 * calls the function `storedFieldRows` and puts its result here, because making the whole table takes half a millisecond. A
 * command that only enqueues a job needs neither.
 */
export function storedFields(): readonly StoredField[] {
  fields ??= storedFieldRows();
  return fields;
}
