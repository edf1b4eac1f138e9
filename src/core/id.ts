import type { Random } from './clock.ts';
import { QueueError } from './errors.ts';

/** Crockford's alphabet: no i, l, o, u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TAIL = 2 ** 20;

/** Makes ids that sort by the time of their making: nine characters of milliseconds, four that tell them apart. */
export function idMaker(random: Random): (now: number) => string {
  let lastMs = 0;
  let head = '';
  let tail = 0;
  return (now) => {
    if (now > lastMs) {
      lastMs = now;
      head = base32(lastMs, 9);
      // The upper half stays free, so that a batch within one millisecond can count upwards.
      tail = Math.floor(random() * (TAIL / 2));
    } else if (++tail >= TAIL) {
      head = base32(++lastMs, 9);
      tail = 0;
    }
    return head + digit(tail >> 15) + digit(tail >> 10) + digit(tail >> 5) + digit(tail);
  };
}

/** Without a loop: a long file needs many ids. */
function digit(value: number): string {
  return ALPHABET[value & 31]!;
}

function base32(value: number, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32] + text;
  return text;
}

const HIDDEN = 'must not contain control or invisible characters';
/**
 * Control characters, format characters that hide or reorder what a person reads, and characters that are drawn as
 * nothing. The sign that asks for the coloured form of an emoji is one of those, and passes behind an emoji.
 */
const INVISIBLE =
  /(?<!\p{Extended_Pictographic})\ufe0f|(?!\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{DI}\u2800\u{16fe4}\u{1d159}]/u;

/** Names and ids are any readable text: they never become part of a file name. */
export function checkName(text: string, what: string): string {
  const problem = problemOf(text, 128) ?? (text.startsWith('-') ? "must not start with '-'" : null);
  if (problem !== null) throw new QueueError('invalid-job', `${what} ${problem}`);
  return text;
}

/** Any text, or none, as long as a person sees what is there. */
export function checkReadable(text: string, what: string): string {
  if (INVISIBLE.test(text)) throw new QueueError('invalid-job', `${what} ${HIDDEN}`);
  return text;
}

/** As HTTP's Idempotency-Key brings it: not the blanks around it. */
export function checkKey(text: string, what: string): string {
  const problem = problemOf(text, 255);
  if (problem !== null) throw new QueueError('invalid-job', `${what} ${problem}`);
  return text;
}

/** Most names are so plain that nothing can be wrong with them. */
const PLAIN = /^\w[\w.:-]{0,127}$/;

function problemOf(text: string, most: number): string | null {
  if (PLAIN.test(text)) return null;
  const length = [...text].length;
  if (length === 0 || text.trim() === '') return 'must not be empty';
  if (length > most) return `must have at most ${most} characters`;
  if (INVISIBLE.test(text)) return HIDDEN;
  return text === text.trim() ? null : 'must not begin or end with a space';
}

/** A queue is also named in lists: `--queue a,b`, `--queue '*'`. */
export function checkQueueName(text: string, what: string): string {
  if (text === '*' || text.includes(','))
    throw new QueueError('invalid-job', `${what} must not be '*' or contain a comma`);
  return checkName(text, what);
}

/** `@last` means another job. */
export function checkId(text: string, what: string): string {
  if (text.startsWith('@')) throw new QueueError('invalid-job', `${what} must not start with '@'`);
  return checkName(text, what);
}
