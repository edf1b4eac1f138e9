import type { Schema } from './route.ts';

export const text: Schema = { type: 'string' };
export const integer: Schema = { type: 'integer' };
export const number: Schema = { type: 'number' };
export const flag: Schema = { type: 'boolean' };
export const time: Schema = { type: 'string', format: 'date-time' };
export const strings: Schema = { type: 'object', additionalProperties: text };

export const maybe = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
export const oneOf = (values: readonly string[]): Schema => ({ enum: [...values] });
export const listOf = (items: Schema): Schema => ({ type: 'array', items });
export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** Returns the schema of an object that has exactly these properties. */
export function record(properties: Record<string, Schema>): Schema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** Returns the schema of an object that may have these properties and must have the required ones. */
export function input(properties: Record<string, Schema>, required: string[] = []): Schema {
  return { type: 'object', properties, required, additionalProperties: false };
}
