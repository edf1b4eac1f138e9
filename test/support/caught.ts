import { QueueError } from '../../src/core/errors.ts';

/** The error of an action that must be refused; anything but a QueueError is a failure of the test. */
export function caught(action: () => unknown): QueueError {
  let value: unknown;
  try {
    value = action();
  } catch (error) {
    if (error instanceof QueueError) return error;
    throw error;
  }
  throw new Error(`was not refused, but gave ${JSON.stringify(value)}`);
}
