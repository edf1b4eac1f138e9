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
      `${name} is ${Buffer.byteLength(text)} bytes long; the limit is ${COMMAND_LIMIT} bytes`,
      'put the command in a script file and enqueue the script',
    );
  }
  return text;
}

/** Refuses text that was copied from where its secret is not shown. */
export function checkUnmasked(text: string, name: string): void {
  if (holdsMask(text))
    throw new QueueError(
      'invalid-job',
      `${name} contains ${MASK}, which stands for a masked secret`,
      'give the real secret, or read it from the worker with --secret-env NAME',
    );
}
