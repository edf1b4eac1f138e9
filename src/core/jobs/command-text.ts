import { QueueError } from '../errors.ts';
import { byteLength } from '../text/language.ts';

/** The text that is shown in place of a secret. */
export const MASK = '•••';
/** The part that every URL with a masked password contains. */
const MASKED_URL = `:${MASK}@`;

/** Tells whether a text is the mask, or contains a URL with a masked password. */
export function holdsMask(text: string): boolean {
  return text === MASK || text.includes(MASKED_URL);
}

/** The maximum size of a command in bytes. It is one argument, which Linux limits to 131,072 bytes with the NUL at its end. */
export const COMMAND_LIMIT = 131_071;

export function checkCommand(text: string, name: string): string {
  if (text.trim() === '') throw new QueueError('invalid-job', `${name} must not be empty`);
  if (text.includes('\0')) throw new QueueError('invalid-job', `${name} must not contain NUL bytes`);
  if (holdsMask(text)) throw masked(name);
  // A UTF-16 code unit takes at most three bytes in UTF-8, so short commands need no exact count.
  if (text.length * 3 > COMMAND_LIMIT && byteLength(text) > COMMAND_LIMIT) {
    throw new QueueError(
      'invalid-job',
      `${name} is ${byteLength(text)} bytes long; the limit is ${COMMAND_LIMIT} bytes`,
      'put the command in a script file and enqueue the script',
    );
  }
  return text;
}

/** Throws if the text contains a masked secret, because then it was copied from a place that hides secrets. */
export function checkUnmasked(text: string, name: string): void {
  if (holdsMask(text)) throw masked(name);
}

const masked = (name: string): QueueError =>
  new QueueError(
    'invalid-job',
    `${name} contains ${MASK}, which stands for a masked secret`,
    "use the real secret, or --secret-env NAME to read it from the worker's environment",
  );
