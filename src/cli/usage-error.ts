import { QueueError } from '../core/errors.ts';

/** Returns the error for a command line that the command does not take. */
export function usageError(message: string, hint?: string): QueueError {
  return new QueueError('usage', message, hint);
}
