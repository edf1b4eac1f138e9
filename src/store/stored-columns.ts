import type { NamedField } from '../core/jobs/field.ts';
import { KEPT_FIELDS } from '../core/jobs/field-list.ts';

/** Returns the fields that have a column of their own with the same name. */
export const ownFields = (): NamedField[] =>
  KEPT_FIELDS.filter((field) => field.in === undefined && field.column === undefined);

export const editableFields = (): NamedField[] => ownFields().filter((field) => field.edit !== undefined);

export function isJson({ type }: Pick<NamedField, 'type'>): boolean {
  return type!.type === 'array' || type!.type === 'object';
}
