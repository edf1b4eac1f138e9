import { QueueError } from './errors.ts';
import { formatBytes } from './numbers.ts';

/** The maximum size of a job's stdin in bytes. It is kept in the store, so longer input belongs in a file. */
export const STDIN_LIMIT = 1024 ** 2;

export function checkStdin(text: string, name: string): string {
  if (Buffer.byteLength(text) > STDIN_LIMIT) throw stdinTooLong(name);
  return text;
}

export function stdinTooLong(name: string): QueueError {
  return new QueueError(
    'invalid-job',
    `${name} is longer than ${formatBytes(STDIN_LIMIT)}`,
    "let the command read a file: queuectl enqueue 'sort <big.txt'",
  );
}
