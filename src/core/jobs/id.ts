import { QueueError } from '../errors.ts';

const INVISIBLE_PROBLEM = 'must not contain control or invisible characters';
/** Tells whether a text has control or format characters that hide or reorder text, or invisible ones. U+FE0F is allowed after an emoji. */
const hasInvisible = (text: string): boolean =>
  /(?<!\p{Extended_Pictographic})\ufe0f|(?!\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{DI}\u2800\u{16fe4}\u{1d159}]/u.test(
    text,
  );

/** Throws unless the text is a valid name: at most 128 visible characters, no spaces around it, no leading hyphen. */
export function checkName(text: string, what: string): string {
  const problem = nameProblem(text, 128) ?? (text.startsWith('-') ? "must not start with '-'" : null);
  if (problem !== null) throw new QueueError('invalid-job', `${what} ${problem}`);
  return text;
}

/** Throws if the text has invisible characters. It may be empty. */
export function checkReadable(text: string, what: string): string {
  if (hasInvisible(text)) throw new QueueError('invalid-job', `${what} ${INVISIBLE_PROBLEM}`);
  return text;
}

/** Checks an idempotency key. Unlike a name, it may start with a hyphen and have up to 255 characters. */
export function checkIdempotencyKey(text: string, what: string): string {
  const problem = nameProblem(text, 255);
  if (problem !== null) throw new QueueError('invalid-job', `${what} ${problem}`);
  return text;
}

function nameProblem(text: string, maxChars: number): string | null {
  // Most names match this, and skip the slower checks.
  if (/^\w[\w.:-]{0,127}$/.test(text)) return null;
  const length = [...text].length;
  if (length === 0 || text.trim() === '') return 'must not be empty';
  if (length > maxChars) return `must have at most ${maxChars} characters`;
  if (hasInvisible(text)) return INVISIBLE_PROBLEM;
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
