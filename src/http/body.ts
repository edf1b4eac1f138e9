import { type JobInput, readJobObject } from '../core/job-input.ts';
import { refuse } from './problem.ts';

/** Returns the body as an object. Throws if it is not an object or has an unknown field. */
export function readFields(body: unknown, known: string[]): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    refuse('invalid-request', 'the body must be a JSON object');
  const stray = Object.keys(body).find((name) => !known.includes(name));
  if (stray !== undefined)
    refuse('invalid-request', `unknown field '${stray}'`, `use one of ${known.join(', ')}`);
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
