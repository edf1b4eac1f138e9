import type { QueueError } from './errors.ts';
import { invalid } from './read-value.ts';
import { integer, listOf, type Schema, text } from './schema.ts';

/** The schema of the exit codes in a job object. */
export const EXIT_CODES: Schema<string | number | number[]> = {
  anyOf: [text, integer, listOf(integer)],
  examples: [[1, 75], '1,64-78'],
};

/** Reads exit codes: a number, a text such as `1,64-78`, or an array of single codes and ranges. Returns them sorted, without duplicates. */
export function readExitCodes(value: unknown, what: string): number[] {
  const parts = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [value];
  const codes = new Set<number>();
  for (const part of parts) {
    const [from, to] = rangeOf(part, what);
    for (let code = from; code <= to; code++) codes.add(code);
  }
  if (codes.size === 0) throw invalidCode(value, what);
  return [...codes].sort((a, b) => a - b);
}

function rangeOf(part: unknown, what: string): [number, number] {
  const text = typeof part === 'number' || typeof part === 'string' ? String(part) : '';
  const match = /^\s*(\d{1,3})\s*(?:-\s*(\d{1,3})\s*)?$/.exec(text);
  const from = Number(match?.[1]);
  const to = Number(match?.[2] ?? match?.[1]);
  if (match === null || from > to || to > 255) throw invalidCode(part, what);
  return [from, to];
}

function invalidCode(value: unknown, what: string): QueueError {
  return invalid(
    `${what}: invalid exit code '${String(value)}'`,
    'use exit codes from 0 to 255: one code (75), a list (1,75) or a range (64-78)',
  );
}
