import { errorObject, type QueueError } from '../core/errors.ts';
import { printable } from '../core/printable.ts';
import type { Io } from './io.ts';
import { printableJson } from './terminal-text.ts';

/** Prints an error with its hint, or as one line of JSON. */
export function printError(io: Io, error: QueueError): void {
  if (io.json) io.err(`${printableJson(JSON.stringify(errorObject(error)))}\n`);
  else
    io.err(
      `error: ${printable(error.message)}\n${error.hint === null ? '' : `  ${printable(error.hint)}\n`}`,
    );
}
