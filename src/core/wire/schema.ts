/** The key of a property that only the compiler uses, for the type of a schema. No value has this property. */
declare const TYPE: unique symbol;

/** A JSON schema as OpenAPI 3.1 uses it. `T` is the type of the values that fit it. */
export interface Schema<T = unknown> {
  readonly [TYPE]?: T;
  [keyword: string]: unknown;
}

export type TypeOf<S> = S extends Schema<infer T> ? T : never;

export const text: Schema<string> = { type: 'string' };
export const integer: Schema<number> = { type: 'integer' };
export const number: Schema<number> = { type: 'number' };
export const boolean: Schema<boolean> = { type: 'boolean' };
export const time: Schema<string> = { type: 'string', format: 'date-time' };
/** The schema of an object whose values are strings. */
export const textMap: Schema<Record<string, string>> = { type: 'object', additionalProperties: text };
/** The schema of a duration: milliseconds, or a text with a unit. */
export const milliseconds: Schema<number | string> = { type: ['number', 'string'] };
/** The schema of a duration: seconds, or a text with a unit. */
export const duration: Schema<number | string> = { ...milliseconds, examples: [90, '5m'] };
/** The schema of a time that a user gives: a text or a number. A program may also give a `Date`. */
export const timeInput: Schema<number | string | Date> = {
  ...milliseconds,
  examples: ['2030-01-31T09:00:00Z', '+10m'],
};

export const anyOf = <S extends Schema[]>(...schemas: S): Schema<TypeOf<S[number]>> => ({ anyOf: schemas });
export const maybe = <T>(schema: Schema<T>): Schema<T | null> => ({ anyOf: [schema, { type: 'null' }] });
export const oneOf = <const T extends readonly string[]>(values: T): Schema<T[number]> => ({
  enum: [...values],
});
export const listOf = <T>(items: Schema<T>): Schema<T[]> => ({ type: 'array', items });
export const ref = <T = unknown>(name: string): Schema<T> => ({ $ref: `#/components/schemas/${name}` });

/** Returns properties that all have the same schema. */
export function each<const Names extends readonly string[], T>(names: Names, schema: Schema<T>) {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Names[number], Schema<T>>;
}

type Properties = Record<string, Schema>;

/** Returns the schema of an object that has all of these properties and no others. */
export function record<P extends Properties>(properties: P): Schema<{ [K in keyof P]: TypeOf<P[K]> }> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** Returns the schema of an object that a user gives. Only the properties in `required` must be present. */
export function input<P extends Properties, R extends keyof P & string = never>(
  properties: P,
  required: R[] = [],
): Schema<{ [K in R]: TypeOf<P[K]> } & { [K in Exclude<keyof P, R>]?: TypeOf<P[K]> }> {
  return { type: 'object', properties, required, additionalProperties: false };
}
