import { QueueError } from '../../core/errors.ts';

/** Wraps an error of the caller's own code, such as of a file that it writes, while a transaction runs. */
class CallerError extends QueueError {
  readonly original: unknown;

  constructor(original: unknown) {
    super('internal', 'the code of the caller has failed');
    this.original = original;
  }
}

/** Returns a function that calls `call`. Its errors are not taken for a lost connection, after which work is repeated. */
export function callerFunction<A extends unknown[], R>(call: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    try {
      return call(...args);
    } catch (error) {
      throw new CallerError(error);
    }
  };
}

/** Yields what the caller's iterable yields. */
export function* callerRows<T>(rows: Iterable<T>): Generator<T> {
  try {
    yield* rows;
  } catch (error) {
    throw new CallerError(error);
  }
}

/** Waits for work that uses the functions above, and throws the errors of the caller as they were. */
export async function withCallerErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof CallerError ? error.original : error;
  }
}
