import { checkDuration, exactDuration, parseDuration } from './duration.ts';
import { QueueError } from './errors.ts';
import { checkNumber, formatSize, parseSize } from './numbers.ts';

/** What is kept of the jobs that ended in one state. A limit that is null sets none; any one of them lets a job go. */
export interface Retention {
  /** Kept so long after they ended. */
  ageMs: number | null;
  /** At most so many. */
  count: number | null;
  /** At most so much, output and the jobs themselves. */
  bytes: number | null;
}

/** Of events there is no size to speak of. */
export type EventRetention = Omit<Retention, 'bytes'>;

/** The states whose jobs may be removed by themselves: nothing that still waits, runs or will be retried. */
export const PRUNED_STATES = ['completed', 'cancelled', 'dead'] as const;
export type PrunedState = (typeof PRUNED_STATES)[number];

/** What a job without output takes in the store (268 bytes of a million short ones): row, attempt, places in indexes. */
const JOB_BYTES = 300;

const AGE = { min: 1, max: 3650 * 86_400_000, integer: true };
const COUNT = { min: 0, max: 1e12, integer: true };
const SIZE = { min: 0, max: 2 ** 50, integer: true };
export const RETENTION_RANGE =
  'an age (7d), a number of jobs (100000), a size (1G), several of them (7d,1G), or none';

/** `7d`, `100000`, `1G`, or several: `7d,100000`. Null (`none`): everything is kept. */
export function parseRetention(text: string, what: string): Retention | null {
  if (text.trim().toLowerCase() === 'none') return null;
  const keep: Retention = { ageMs: null, count: null, bytes: null };
  for (const part of text.split(',')) {
    const [limit, value] = parseLimit(part.trim(), what);
    if (keep[limit] !== null) throw invalid(`${what}: '${text}' gives ${KINDS[limit]} twice`);
    keep[limit] = value;
  }
  return keep;
}

const KINDS = { ageMs: 'an age', count: 'a number of jobs', bytes: 'a size' };

function parseLimit(text: string, what: string): [keyof Retention, number] {
  if (/^-?[\d.]+$/.test(text)) return ['count', checkNumber(Number(text), what, COUNT, text)];
  // What it gets wrong is deleted: minutes and megabytes are not told apart by guessing.
  if (/^[\d.]+m$/.test(text))
    throw invalid(
      `${what}: '${text}' may be minutes or megabytes`,
      'write 90s or 1h30m for an age, 500M or 500MB for a size',
    );
  if (/^[\d.]+\s*([kmgt]|[kmgt]?i?b)$/i.test(text))
    return ['bytes', checkNumber(parseSize(text, what), what, SIZE, text)];
  try {
    return ['ageMs', checkDuration(parseDuration(text, what), what, AGE, text)];
  } catch (error) {
    if (error instanceof QueueError && error.code === 'invalid-duration')
      throw invalid(`${what}: '${text}' is neither an age, a number of jobs nor a size`);
    throw error;
  }
}

function invalid(
  message: string,
  hint = 'write 7d, 100000, 1G, several joined by commas, or none',
): QueueError {
  return new QueueError('invalid-value', message, hint);
}

export function formatRetention(keep: Retention | null): string {
  if (keep === null) return 'none';
  const parts: string[] = [];
  // Never `5m` or a bare number for a size: they would read back as something else.
  if (keep.ageMs !== null) parts.push(exactDuration(keep.ageMs).replace(/^(\d+)m$/, (_, n) => `${n * 60}s`));
  if (keep.count !== null) parts.push(String(keep.count));
  if (keep.bytes !== null) parts.push(formatSize(keep.bytes).replace(/\d$/, '$&B'));
  return parts.join(',');
}

/** All jobs of a state: their number and the bytes of what they read and of their stored output. */
export interface Held {
  jobs: number;
  bytes: number;
}

export interface EndedJob {
  finishedAt: number;
  /** Of its stdin and its stored output. */
  bytes: number;
}

function sizeOf({ jobs, bytes }: Held): number {
  return bytes + jobs * JOB_BYTES;
}

/**
 * How many of `oldest`, those that ended first, have to go: up to the first that no limit touches. Being older, more or
 * bigger only ever concerns the oldest, so what may stay never hides what must go.
 */
export function surplus(keep: Retention, held: Held, oldest: readonly EndedJob[], now: number): number {
  let { jobs, bytes } = held;
  let going = 0;
  for (const job of oldest) {
    const tooOld = keep.ageMs !== null && job.finishedAt < now - keep.ageMs;
    const tooMany = keep.count !== null && jobs > keep.count;
    const tooBig = keep.bytes !== null && sizeOf({ jobs, bytes }) > keep.bytes;
    if (!tooOld && !tooMany && !tooBig) break;
    jobs--;
    bytes -= job.bytes;
    going++;
  }
  return going;
}

/** An age, a number of events, or both. */
export function parseEventRetention(text: string, what: string): Retention | null {
  const keep = parseRetention(text, what);
  if (keep === null || keep.bytes === null) return keep;
  throw invalid(
    `${what}: '${text}' gives a size; events are kept by age or number`,
    'write 7d, 100000, 7d,100000 or none',
  );
}

/**
 * How many of the `oldest` have to go: up to the last that is too old or one too many. Should a clock have been set back,
 * what stands before an old event goes with it.
 */
export function surplusEvents(
  { ageMs, count }: EventRetention,
  last: number,
  oldest: readonly { number: number; at: number }[],
  now: number,
): number {
  const goes = ({ number, at }: { number: number; at: number }): boolean =>
    (ageMs !== null && at < now - ageMs) || (count !== null && number <= last - count);
  return oldest.findLastIndex(goes) + 1;
}
