import type { NamedField } from './field.ts';
import { storedFieldRows } from './stored-field-rows.ts' with { type: 'macro' };

type StoredProperty = 'name' | 'key' | 'in' | 'column' | 'plain' | 'edit' | 'range' | 'default';

/** The properties of a job field that decide how its value is stored. */
export type StoredField = { [K in StoredProperty]: NamedField[K] } & { type: { type: unknown } };

/**
 * The rows of the table of job fields whose values are stored, with only the properties that the store needs. The bundler calls
 * the function and puts its result here. Making the whole table takes a short command half a millisecond.
 */
export const STORED_FIELDS: readonly StoredField[] = storedFieldRows();
