import { QueueError } from '../../src/core/errors.ts';

/** Returns the QueueError that the action throws. Fails if it throws anything else or nothing. */
export function errorOf(action: () => unknown): QueueError {
  let value: unknown;
  try {
    value = action();
  } catch (error) {
    if (error instanceof QueueError) return error;
    throw error;
  }
  throw new Error(`expected an error, but got ${JSON.stringify(value)}`);
}
