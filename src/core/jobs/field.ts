import type { NumberRange } from '../text/numbers.ts';
import type { Schema, TypeOf } from '../wire/schema.ts';

/** A row of the table of job fields. The name of the row is the documented name in a job object. */
interface Field {
  /** The property of a job that holds the value, if it is not the name of the row in camel case. */
  key?: string;
  /** The object that groups the property with others, as in `job.policy.retryOn`. */
  in?: 'policy' | 'hooks' | 'unique';
  /** More names that a job object may use. The name in camel case is always accepted. */
  spellings?: readonly string[];
  /** Checks a given value and converts it. Returns undefined if the value means the same as an absent field. */
  read(value: unknown, name: string, now: number): unknown;
  /** Tells whether the value counts from now, as a delay does. */
  isRelative?(value: unknown): boolean;
  /** The schema of the printed value. A row without one is only read: its value is not printed under this name. */
  type?: Schema;
  /** The schema of the values that are accepted, if it is not `type`. */
  accepts?: Schema;
  /** The range of a number. It is checked in flags, in imported rows and by `db check`. */
  range?: Pick<NumberRange, 'min' | 'max'> & Partial<NumberRange>;
  /** Converts the value for a printed job. */
  print?(value: never): unknown;
  /** The value of a job that does not set the field. The enqueue sets a stored field that has neither a default nor `in`. */
  default?: unknown;
  /** The column, if it is not named like the row. Several fields share `start`. Null means that the value is in another table. */
  column?: 'start' | null;
  /** True if the column is written for every job. A job that sets only such fields is a plain job. */
  plain?: true;
  /** Lets users edit the field of a waiting job: `true` with the same flag, or a text that describes another flag. */
  edit?: true | string;
  /** True if `schedule add` and `schedule edit` do not have the flag. */
  unscheduled?: true;
  /** The flag, its short form, the placeholder of its value and its help: `--priority -p N  help`. */
  flag?: string;
  /** True if the flag can be repeated. */
  many?: true;
  /** The heading under which the help lists the flag. */
  heading?: string;
  /** The label of the field in `show`, and how to convert the value for it. */
  show?: string | readonly [label: string, text: (value: never) => unknown];
}

export type Fields = Record<string, Field>;

/** A row after `section` has completed it. */
export interface NamedField extends Field {
  name: string;
  key: string;
}

/** Completes the rows of one section. The help lists their flags under `heading`. */
export function section<const T extends Fields>(heading: string, fields: T): T {
  for (const name in fields) {
    const field: Partial<NamedField> = fields[name]!;
    field.name = name;
    field.heading = heading;
    field.key ??= camelCase(name);
  }
  return fields;
}

export function camelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

type CamelCase<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<CamelCase<B>>}` : S;
type Key<T extends Fields, K extends keyof T> = T[K] extends { key: infer Name extends string }
  ? Name
  : CamelCase<K & string>;
type UngroupedKey<T extends Fields, K extends keyof T> = T[K] extends { in: string } ? never : Key<T, K>;
type Value<F extends Field> = Exclude<ReturnType<F['read']>, undefined>;
type OrNull<F> = F extends { default: null } ? null : never;
type FieldsWith<T, Property> = { [K in keyof T as T[K] extends Property ? K : never]: T[K] };
type Accepted<F> = F extends { accepts: infer S }
  ? TypeOf<S>
  : F extends { type: infer S }
    ? TypeOf<S>
    : never;
type Printed<F> = F extends { type: infer S }
  ?
      | TypeOf<S>
      | (F extends { default: null } | { in: string; type: Schema<string | number | unknown[]> }
          ? null
          : never)
  : never;

/** The properties that a user may set, outside `policy`, `hooks` and `unique`. */
export type InputOf<T extends Fields> = { -readonly [K in keyof T as UngroupedKey<T, K>]?: Value<T[K]> };
/** A complete job: the properties outside `policy`, `hooks` and `unique`. */
export type SpecOf<T extends Fields, P extends Fields = FieldsWith<T, { type: Schema }>> = {
  -readonly [K in keyof P as UngroupedKey<P, K>]: Value<P[K]> | OrNull<P[K]>;
};
/** The properties of `policy` or `hooks`. */
export type GroupOf<T extends Fields, G extends Field['in']> = {
  -readonly [K in keyof T as T[K] extends { in: G } ? Key<T, K> : never]?: Value<T[K]>;
};
/** The properties that can be edited. */
export type EditOf<T extends Fields> = Partial<SpecOf<FieldsWith<T, { edit: unknown }>>>;
/** The part of a printed job that the table describes. */
export type PrintedOf<T extends Fields, P extends Fields = FieldsWith<T, { type: Schema }>> = {
  -readonly [K in keyof P]: Printed<P[K]>;
};
/** A job object as a user writes it. Null and undefined mean that a field is not set, so that a printed job can be given. */
export type GivenOf<T extends Fields> = {
  -readonly [K in keyof T as T[K] extends { accepts: Schema } | { type: Schema } ? K : never]?:
    | Accepted<T[K]>
    | null
    | undefined;
};

/** Writes a name such as `maxRetries` or `max_retries` as a flag. */
export function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replaceAll('_', '-');
}
