import type { Random } from '../time/clock.ts';

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
    return (
      head +
      ALPHABET[tail >> 15] +
      ALPHABET[(tail >> 10) & 31] +
      ALPHABET[(tail >> 5) & 31] +
      ALPHABET[tail & 31]
    );
  };
}

function base32(value: number, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32] + text;
  return text;
}
