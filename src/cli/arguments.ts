import { QueueError } from '../core/errors.ts';
import type { Input } from './command.ts';

/** The one argument that a command cannot do without. */
export function required(input: Input, at: number, what: string, example: string): string {
  const value = input.args[at];
  if (value === undefined || value === '') throw new QueueError('usage', `${what} is missing`, example);
  return value;
}
