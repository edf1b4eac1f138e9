import { type JobFilter, readJobFilter } from '../core/jobs/filter.ts';
import { type JobInput, readJobObject } from '../core/jobs/job-input.ts';
import { removedField } from '../core/jobs/removed-names.ts';
import { formatBytes, type NumberRange, parseNumber } from '../core/text/numbers.ts';
import { formatDuration } from '../core/time/duration.ts';
import type { Schema } from '../core/wire/schema.ts';
import { refuse } from './problem.ts';
import { checkBodyType } from './request-checks.ts';
import type { Route } from './route.ts';
import { filterName, INPUTS, REPEATABLE } from './schemas.ts';

/** Returns the value of a query parameter, or undefined if it is missing. */
export type QueryReader = (name: string) => string | undefined;

/** Reads a query parameter that is true or false. Returns false if it is missing. */
export function booleanOf(one: QueryReader, name: string): boolean {
  const text = one(name);
  if (text !== undefined && text !== 'true' && text !== 'false')
    refuse('invalid-value', `${name} must be true or false`);
  return text === 'true';
}

/** Reads a query parameter that is a number. Returns `defaultValue` if it is missing. */
export function numberOf<T>(one: QueryReader, name: string, range: NumberRange, defaultValue: T): number | T {
  const text = one(name);
  return text === undefined ? defaultValue : parseNumber(text, name, range);
}

const MAX_BODY_BYTES = 1024 * 1024;
const BODY_TIMEOUT_MS = 15_000;

/** Reads and parses the body of a request, or returns undefined if it has none. Throws if it is invalid, too large or too slow. */
export async function readBody(route: Route, request: Request): Promise<unknown> {
  if (route.method === 'GET') return undefined;
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) refuseTooLarge();
  const body = await textOf(request.body);
  checkBodyType(route, request.headers.get('content-type') ?? undefined, body !== '');
  if (body === '') {
    if (route.body !== undefined) refuse('invalid-json', 'the body is empty', JSON_HINT);
    return undefined;
  }
  if (route.body === undefined) refuse('invalid-request', 'this request takes no body');
  try {
    return JSON.parse(body);
  } catch {
    return refuse('invalid-json', 'the body is not valid JSON', JSON_HINT);
  }
}

const JSON_HINT = 'send one JSON document';

async function textOf(stream: ReadableStream<Uint8Array> | null): Promise<string> {
  if (stream === null) return '';
  const reader = stream.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    reader.cancel().catch(() => {});
  }, BODY_TIMEOUT_MS);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isLate) refuse('too-slow', `the body must arrive within ${formatDuration(BODY_TIMEOUT_MS)}`);
      if (done) break;
      size += value.length;
      if (size > MAX_BODY_BYTES) refuseTooLarge();
      pieces.push(value);
    }
  } finally {
    clearTimeout(timer);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    return refuse('invalid-json', 'the body is not valid UTF-8', JSON_HINT);
  }
}

function refuseTooLarge(): never {
  refuse('too-large', `the body is larger than ${formatBytes(MAX_BODY_BYTES)}`);
}

/** Returns the body as an object. Throws if it is not an object or has an unknown field. */
export function readFields(body: unknown, schema: Schema): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    refuse('invalid-request', 'the body must be a JSON object');
  const known = Object.keys(schema.properties as object);
  const stray = Object.keys(body).find((name) => !known.includes(name));
  if (stray !== undefined) {
    const removed = removedField(stray, (body as Record<string, unknown>)[stray]);
    if (removed !== null) refuse('invalid-request', removed.message, removed.hint);
    refuse('invalid-request', `unknown field '${stray}'`, `use one of ${known.join(', ')}`);
  }
  return body as Record<string, unknown>;
}

export function readText(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  return refuse('invalid-request', `${name} must be a string`);
}

export function readFlag(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value;
  return refuse('invalid-request', `${name} must be true or false`);
}

export function readTexts(value: unknown, name: string): string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  return refuse('invalid-request', `${name} must be an array of strings`);
}

/** Reads a job. Throws for an unknown field, because that is a bug in the client. */
export function readJobBody(value: unknown, now: number): JobInput {
  return readJobObject(value, now, true).input;
}

export function filterOfQuery(all: (name: string) => string[]): JobFilter {
  return readJobFilter((field) => all(filterName(field)), filterName);
}

/** Reads a filter such as `{"state": ["dead"], "queue": "mail"}`. Throws for an empty filter, which would match all jobs. */
export function filterOfBody(body: unknown): JobFilter {
  const given = readFields(body, INPUTS.Filter);
  if (Object.keys(given).length === 0)
    refuse('invalid-request', 'the filter is empty', 'to select all jobs, list every state');
  const valuesByName = new Map(Object.entries(given).map(([name, value]) => [name, valuesOf(name, value)]));
  return filterOfQuery((name) => valuesByName.get(name) ?? []);
}

function valuesOf(name: string, value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (name === 'exit-code' && Number.isInteger(value)) return [String(value)];
  if (!REPEATABLE.includes(name)) return refuse('invalid-request', `${name} of the filter must be a string`);
  const texts = readTexts(value, `${name} of the filter`);
  return texts.length > 0 ? texts : refuse('invalid-request', `${name} of the filter is empty`);
}
