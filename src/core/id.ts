import type { Random } from './clock.ts';
import { QueueError } from './errors.ts';

/** Crockford's base 32, which has no i, l, o or u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** The number of values that four characters can have. */
const TAIL_VALUES = 2 ** 20;

/** Returns a function that makes ids. Nine characters hold the time in milliseconds, by which ids sort, and four avoid collisions. */
export function idMaker(random: Random): (now: number) => string {
  let lastMs = 0;
  let head = '';
  let tail = 0;
  return (now) => {
    if (now > lastMs) {
      lastMs = now;
      head = base32(lastMs, 9);
      // The tail starts in the lower half, so that a batch within one millisecond can count upwards.
      tail = Math.floor(random() * (TAIL_VALUES / 2));
    } else if (++tail >= TAIL_VALUES) {
      head = base32(++lastMs, 9);
      tail = 0;
    }
    // This is faster than a loop, and a long file needs many ids.
    return head + digit(tail >> 15) + digit(tail >> 10) + digit(tail >> 5) + digit(tail);
  };
}

/** Returns the last base-32 digit of a number. */
function digit(value: number): string {
  return ALPHABET[value & 31]!;
}

function base32(value: number, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32] + text;
  return text;
}

const INVISIBLE_PROBLEM = 'must not contain control or invisible characters';
/** Matches control and format characters that hide or reorder text, and invisible characters. U+FE0F is allowed after an emoji. */
const INVISIBLE =
  /(?<!\p{Extended_Pictographic})\ufe0f|(?!\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{DI}\u2800\u{16fe4}\u{1d159}]/u;

/** Throws unless the text is a valid name: at most 128 visible characters, no spaces around it, no leading hyphen. */
export function checkName(text: string, what: string): string {
  const problem = nameProblem(text, 128) ?? (text.startsWith('-') ? "must not start with '-'" : null);
  if (problem !== null) throw new QueueError('invalid-job', `${what} ${problem}`);
  return text;
}

/** Throws if the text has invisible characters. It may be empty. */
export function checkReadable(text: string, what: string): string {
  if (INVISIBLE.test(text)) throw new QueueError('invalid-job', `${what} ${INVISIBLE_PROBLEM}`);
  return text;
}

/** Checks an idempotency key. Unlike a name, it may start with a hyphen and have up to 255 characters. */
export function checkIdempotencyKey(text: string, what: string): string {
  const problem = nameProblem(text, 255);
  if (problem !== null) throw new QueueError('invalid-job', `${what} ${problem}`);
  return text;
}

/** Matches most names, so that they skip the slower checks. */
const PLAIN_NAME = /^\w[\w.:-]{0,127}$/;

function nameProblem(text: string, maxChars: number): string | null {
  if (PLAIN_NAME.test(text)) return null;
  const length = [...text].length;
  if (length === 0 || text.trim() === '') return 'must not be empty';
  if (length > maxChars) return `must have at most ${maxChars} characters`;
  if (INVISIBLE.test(text)) return INVISIBLE_PROBLEM;
  return text === text.trim() ? null : 'must not begin or end with a space';
}

/** Checks the name of a queue. Because `--queue` accepts `*` and lists such as `a,b`, it cannot be `*` or contain a comma. */
export function checkQueueName(text: string, what: string): string {
  if (text === '*' || text.includes(','))
    throw new QueueError('invalid-job', `${what} must not be '*' or contain a comma`);
  return checkName(text, what);
}

/** Checks the id of a job. It cannot start with `@`, because commands accept `@last` in place of an id. */
export function checkId(text: string, what: string): string {
  if (text.startsWith('@')) throw new QueueError('invalid-job', `${what} must not start with '@'`);
  return checkName(text, what);
}
