import { parseDuration } from '../core/duration.ts';
import { QueueError } from '../core/errors.ts';
import type { Input } from './command.ts';

/** Returns the argument at this position, or throws if it is missing. */
export function required(input: Input, at: number, what: string, example: string): string {
  const value = input.args[at];
  if (value === undefined || value === '') throw new QueueError('usage', `${what} is missing`, example);
  return value;
}

/** Reads a flag that limits a wait. Null means no limit. */
export function readTimeout(input: Input, flag: string): number | null {
  const text = input.one(flag);
  return text === undefined ? null : parseDuration(text, `--${flag}`);
}
