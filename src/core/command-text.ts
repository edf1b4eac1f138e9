import { QueueError } from './errors.ts';
import { holdsMask, MASK } from './mask.ts';

/** The kernel takes no longer argument (131,072 bytes with its closing NUL), and the command is one. */
export const COMMAND_LIMIT = 131_071;

export function checkCommand(text: string, name: string): string {
  if (text.trim() === '') throw new QueueError('invalid-job', `${name} must not be empty`);
  if (text.includes('\0')) throw new QueueError('invalid-job', `${name} must not contain NUL bytes`);
  checkUnmasked(text, name);
  // No character takes more than three bytes for each of its units: most need no counting.
  if (text.length * 3 > COMMAND_LIMIT && Buffer.byteLength(text) > COMMAND_LIMIT) {
    throw new QueueError(
      'invalid-job',
      `${name} has ${Buffer.byteLength(text)} bytes; the limit is ${COMMAND_LIMIT}`,
      'put it in a script file and enqueue that',
    );
  }
  return text;
}

/** Refuses text that was copied from where its secret is not shown. */
export function checkUnmasked(text: string, name: string): void {
  if (holdsMask(text))
    throw new QueueError(
      'invalid-job',
      `${name} has the mask ${MASK} in place of a secret that is not shown`,
      'write the secret out, or let the worker have it: --secret-env NAME',
    );
}
