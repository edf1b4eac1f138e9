import { parseDuration } from '../core/duration.ts';
import { QueueError } from '../core/errors.ts';
import type { Input } from './command.ts';

/** The one argument that a command cannot do without. */
export function required(input: Input, at: number, what: string, example: string): string {
  const value = input.args[at];
  if (value === undefined || value === '') throw new QueueError('usage', `${what} is missing`, example);
  return value;
}

/** How long to wait at most; null: for ever. */
export function readTimeout(input: Input, flag: string): number | null {
  const text = input.one(flag);
  return text === undefined ? null : parseDuration(text, `--${flag}`);
}
