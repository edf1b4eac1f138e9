import { QueueError } from '../errors.ts';
import { checkNumber, formatSize, parseSize } from '../text/numbers.ts';
import { isNone } from '../text/words.ts';
import { checkDuration, exactDuration, parseDuration } from '../time/duration.ts';

/** The limits for finished jobs of one state. Null means no limit. A job beyond any one limit is removed. */
export interface Retention {
  /** The maximum time that a job is kept after it finished. */
  ageMs: number | null;
  count: number | null;
  /** The maximum size in bytes of the jobs and their output. */
  bytes: number | null;
}

/** The limits for events. Events are small, so there is no limit for their size. */
export type EventRetention = Omit<Retention, 'bytes'>;

/** The states whose jobs are pruned. A job that waits, runs or will be retried is never removed. */
export const PRUNED_STATES = ['completed', 'cancelled', 'dead'] as const;
export type PrunedState = (typeof PRUNED_STATES)[number];

/** The estimated size of a job in the database without stdin and output. The measured average is 268 bytes. */
const JOB_BYTES = 300;

const AGE_RANGE_MS = { min: 1, max: 3650 * 86_400_000, integer: true };
const COUNT_RANGE = { min: 0, max: 1e12, integer: true };
const BYTES_RANGE = { min: 0, max: 2 ** 50, integer: true };
export const RETENTION_FORMAT =
  'an age (7d), a number of jobs (100000), a size (1G), a combination (7d,1G), or none';

/** Parses `7d`, `100000`, `1G`, or a combination such as `7d,100000`. Returns null for `none`: everything is kept. */
export function parseRetention(text: string, what: string): Retention | null {
  if (isNone(text)) return null;
  const keep: Retention = { ageMs: null, count: null, bytes: null };
  for (const part of text.split(',')) {
    const [limit, value] = parseLimit(part.trim(), what);
    if (keep[limit] !== null) throw invalid(`${what}: '${text}' sets ${LIMIT_NAMES[limit]} twice`);
    keep[limit] = value;
  }
  return keep;
}

const LIMIT_NAMES = { ageMs: 'the age', count: 'the number of jobs', bytes: 'the size' };

function parseLimit(text: string, what: string): [keyof Retention, number] {
  if (/^-?[\d.]+$/.test(text)) return ['count', checkNumber(Number(text), what, COUNT_RANGE, text)];
  // A wrong guess would delete jobs, so an ambiguous unit is refused.
  if (/^[\d.]+m$/.test(text))
    throw invalid(
      `${what}: '${text}' is ambiguous: it could mean minutes or megabytes`,
      'use seconds or hours for an age (90s, 1h30m), or a capital M for a size (500M)',
    );
  if (/^[\d.]+\s*([kmgt]|[kmgt]?i?b)$/i.test(text))
    return ['bytes', checkNumber(parseSize(text, what), what, BYTES_RANGE, text)];
  try {
    return ['ageMs', checkDuration(parseDuration(text, what), what, AGE_RANGE_MS, text)];
  } catch (error) {
    if (error instanceof QueueError && error.code === 'invalid-duration')
      throw invalid(`${what}: '${text}' is not an age, a number or a size`);
    throw error;
  }
}

function invalid(message: string, hint = `use ${RETENTION_FORMAT}`): QueueError {
  return new QueueError('invalid-value', message, hint);
}

export function formatRetention(keep: Retention | null): string {
  if (keep === null) return 'none';
  const parts: string[] = [];
  // `5m` would be refused when it is read back, and a size without a unit would be read as a number of jobs.
  if (keep.ageMs !== null) parts.push(exactDuration(keep.ageMs).replace(/^(\d+)m$/, (_, n) => `${n * 60}s`));
  if (keep.count !== null) parts.push(String(keep.count));
  if (keep.bytes !== null) parts.push(formatSize(keep.bytes).replace(/\d$/, '$&B'));
  return parts.join(',');
}

/** The number of jobs in a state, and the bytes of their stdin and stored output. */
export interface JobTotals {
  jobs: number;
  bytes: number;
}

/** A finished job that may be removed. */
export interface EndedJob {
  finishedAt: number;
  /** The size of the job's stdin and stored output. */
  bytes: number;
}

/** Returns how many of `oldest` are beyond a limit. Stops at the first job within all limits, because each limit removes the oldest first. */
export function countExcess(keep: Retention, all: JobTotals, oldest: EndedJob[], now: number): number {
  let { jobs, bytes } = all;
  let removed = 0;
  for (const job of oldest) {
    const tooOld = keep.ageMs !== null && job.finishedAt < now - keep.ageMs;
    const tooMany = keep.count !== null && jobs > keep.count;
    const tooBig = keep.bytes !== null && bytes + jobs * JOB_BYTES > keep.bytes;
    if (!tooOld && !tooMany && !tooBig) break;
    jobs--;
    bytes -= job.bytes;
    removed++;
  }
  return removed;
}

/** Parses an age, a number of events, or both. */
export function parseEventRetention(text: string, what: string): Retention | null {
  const keep = parseRetention(text, what);
  if (keep === null || keep.bytes === null) return keep;
  throw invalid(
    `${what}: '${text}' is a size, but events can be limited only by age or number`,
    'use an age (7d), a number of events (100000), both (7d,100000), or none',
  );
}

/**
 * Returns how many of the `oldest` events to remove: all up to the last one beyond a limit. If the clock was set back, this
 * includes events before that one that are not too old yet. `newest` is the number of the newest event.
 */
export function countExcessEvents(
  { ageMs, count }: EventRetention,
  newest: number,
  oldest: readonly { number: number; at: number }[],
  now: number,
): number {
  const isBeyond = ({ number, at }: { number: number; at: number }): boolean =>
    (ageMs !== null && at < now - ageMs) || (count !== null && number <= newest - count);
  return oldest.findLastIndex(isBeyond) + 1;
}
