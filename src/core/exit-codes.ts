import { QueueError } from './errors.ts';
import { integer, listOf, type Schema, text } from './schema.ts';

export const EXIT_CODES: Schema<string | number | number[]> = {
  anyOf: [text, integer, listOf(integer)],
  examples: [[1, 75], '1,64-78'],
};

/** Reads exit codes: `64`, `64,65`, `64-78`, or an array of them. Returns them sorted and without duplicates. */
export function readExitCodes(value: unknown, what: string): number[] {
  const parts = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [value];
  const codes = new Set<number>();
  for (const part of parts) {
    const [from, to] = rangeOf(part, what);
    for (let code = from; code <= to; code++) codes.add(code);
  }
  if (codes.size === 0) throw invalid(value, what);
  return [...codes].sort((a, b) => a - b);
}

function rangeOf(part: unknown, what: string): [number, number] {
  const match = /^\s*(\d{1,3})\s*(?:-\s*(\d{1,3})\s*)?$/.exec(
    typeof part === 'number' ? String(part) : String(part ?? ''),
  );
  const from = Number(match?.[1]);
  const to = Number(match?.[2] ?? match?.[1]);
  if (match === null || (typeof part !== 'number' && typeof part !== 'string') || from > to || to > 255) {
    throw invalid(part, what);
  }
  return [from, to];
}

function invalid(value: unknown, what: string): QueueError {
  return new QueueError(
    'invalid-job',
    `${what}: invalid exit code '${String(value)}'`,
    'use exit codes from 0 to 255: one code (75), a list (1,75) or a range (64-78)',
  );
}
