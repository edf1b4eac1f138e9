import type { NamedField } from '../core/jobs/field.ts';
import { isJson, KEPT_FIELDS, ownFields } from '../core/jobs/field-list.ts';
import { RANGES } from '../core/settings/settings.ts';
import { integer, listOf, type Schema, text } from '../core/wire/schema.ts';

/** Tells whether a parsed JSON value is what its column must hold, so that a job with it can be read and run. */
export type Shape = (value: unknown) => boolean;

/** Returns the shapes of the columns of a job that hold JSON. */
export function jobShapes(): Record<string, Shape> {
  const shapes: Record<string, Shape> = {
    hooks: HOOKS,
    policy: POLICY,
    start: objectOf({ ...shapesOf(({ column }) => column === 'start'), stdinBytes: fitting(integer) }),
  };
  for (const field of ownFields()) if (isJson(field)) shapes[field.name] = shapeOf(field);
  return shapes;
}

/** The commands by event. `idle` has no field, because only queuectl sets it. */
const HOOKS = objectOf({ ...shapesOf(({ in: group }) => group === 'hooks'), idle: fitting(text) });
const POLICY = objectOf(shapesOf(({ in: group }) => group === 'policy', isReadable));
const UNIQUE = objectOf({
  key: fitting(text),
  while: (value) => value === 'pending' || value === 'active',
  forMs: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= RANGES.durationMs.max,
});

/** Each tick has its own id and time. */
const OF_ONE_JOB = ['id', 'runAt', 'idempotencyKey', 'dependsOn'];

/** The shape of the job of a schedule. A field that is null is not set. */
export const SCHEDULED_JOB: Shape = (value) =>
  isObject(value) &&
  (value.command != null || value.argv != null) &&
  OF_ONE_JOB.every((key) => value[key] == null || (value[key] as unknown[]).length === 0) &&
  objectOf({
    ...shapesOf(({ in: group }) => group === undefined, isReadable),
    hooks: HOOKS,
    policy: POLICY,
    unique: (one) => UNIQUE(one) && (one as { key?: unknown }).key != null,
  })(value);

export const TEXTS = fitting(listOf(text));
export const INTEGERS = fitting(listOf(integer));

/** Returns the shapes of the chosen fields by their keys. */
function shapesOf(
  isChosen: (field: NamedField) => boolean,
  more: (field: NamedField, value: unknown) => boolean = () => true,
): Record<string, Shape> {
  return Object.fromEntries(
    KEPT_FIELDS.filter(isChosen).map((field) => {
      const fits = shapeOf(field);
      return [field.key, (value) => fits(value) && more(field, value)];
    }),
  );
}

/** A program needs a name, which is the first of its arguments. */
function shapeOf({ name, type }: NamedField): Shape {
  const fits = fitting(type!);
  return name === 'argv' ? (value) => fits(value) && (value as string[]).length > 0 : fits;
}

/** Tells whether the reader of user input accepts the value, which must for example be in its range. */
function isReadable({ name, read }: NamedField, value: unknown): boolean {
  try {
    read(value, name, 0);
    return true;
  } catch {
    return false;
  }
}

/** Other properties may come from another version, and are not read. */
function objectOf(shapes: Record<string, Shape>): Shape {
  return (value) =>
    isObject(value) &&
    Object.entries(value).every(
      ([key, one]) => one === null || !Object.hasOwn(shapes, key) || shapes[key]!(one),
    );
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fitting(schema: Schema): Shape {
  return (value) => fits(schema as Keywords, value);
}

/** The keywords that the schemas of job fields use. */
interface Keywords {
  type?: string;
  anyOf?: Keywords[];
  enum?: unknown[];
  items?: Keywords;
  properties?: Record<string, Keywords>;
  required?: string[];
  additionalProperties?: Keywords | false;
}

function fits(schema: Keywords, value: unknown): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.some((one) => fits(one, value));
  if (schema.enum !== undefined) return schema.enum.includes(value);
  const { items, properties = {}, required = [], additionalProperties: others } = schema;
  switch (schema.type) {
    case 'integer':
      return Number.isSafeInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value) && value.every((one) => fits(items!, one));
    case 'object':
      return (
        isObject(value) &&
        required.every((key) => Object.hasOwn(value, key)) &&
        Object.entries(value).every(([key, one]) => {
          const expected = Object.hasOwn(properties, key) ? properties[key] : others;
          return expected !== false && (expected === undefined || fits(expected, one));
        })
      );
    default:
      return typeof value === schema.type;
  }
}
