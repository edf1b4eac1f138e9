import { type StoredField, storedFields } from '../core/stored-fields.ts';

/** Returns the fields that have a column of their own with the same name. */
export const ownFields = (): StoredField[] =>
  storedFields().filter((field) => field.in === undefined && field.column === undefined);

export const editableFields = (): StoredField[] => ownFields().filter((field) => field.edit !== undefined);

/** Returns the columns that hold JSON, and whether it is an array or an object. */
export function jsonColumns(): Record<string, 'array' | 'object'> {
  const columns: Record<string, 'array' | 'object'> = { hooks: 'object', policy: 'object', start: 'object' };
  for (const field of ownFields())
    if (isJson(field)) columns[field.name] = field.type!.type as 'array' | 'object';
  return columns;
}

export function isJson({ type }: Pick<StoredField, 'type'>): boolean {
  return type!.type === 'array' || type!.type === 'object';
}
