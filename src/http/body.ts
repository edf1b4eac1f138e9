import { QueueError } from '../core/errors.ts';

type Fields = Record<string, unknown>;

/** Returns the body as an object. Throws if it is none, or has an unknown field. */
export function fields(body: unknown, known: string[]): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new QueueError('invalid-request', 'the body must be a JSON object');
  const stray = Object.keys(body).find((name) => !known.includes(name));
  if (stray !== undefined)
    throw new QueueError('invalid-request', `unknown field '${stray}'`, `use one of ${known.join(', ')}`);
  return body as Fields;
}

export function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw new QueueError('invalid-request', `${name} must be a string`);
}

export function flag(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value;
  throw new QueueError('invalid-request', `${name} must be true or false`);
}

export function texts(value: unknown, name: string): string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw new QueueError('invalid-request', `${name} must be an array of strings`);
}
