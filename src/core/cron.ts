import { QueueError } from './errors.ts';
import { orNull } from './or-null.ts';
import { countOf } from './words.ts';

/** Returns the first matching wall time (see zone.ts) after `wall`, or null if there is none. */
export type NextWall = (wall: number) => number | null;

const MAX_CHARS = 256;
const SHORTHAND = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/i;
/** A field must match FIELD and must not contain a LONG_NUMBER, so that no range is long. */
const FIELD = /^[\da-z*,/#-]+$/i;
const LONG_NUMBER = /\d{3}/;
/** A match more than this many years away counts as none. The rarest date, 29 February on a given weekday, recurs within 40 years. */
const HORIZON_YEARS = 41;

/**
 * Reads a cron expression of five fields, or a shorthand such as `@daily`. The library croner is loaded on first use and does
 * only the calendar arithmetic, in UTC. Time zones are handled in fire-times.ts, because the library fires twice, not at all or
 * in the wrong order around clock changes.
 */
export async function readCron(expression: string): Promise<NextWall> {
  const text = expression.trim();
  checkShape(text);
  const { Cron } = await import('croner');
  const parse = (pattern: string) => new Cron(pattern, { paused: true, utcOffset: 0, mode: '5-part' });
  // The library's messages name its own classes, so they are not shown.
  const cron = orNull(() => parse(text)) ?? reject(text, (pattern) => orNull(() => parse(pattern)) !== null);
  return (wall) => {
    const next = cron.nextRun(new Date(wall));
    return next === null || next.getUTCFullYear() > new Date(wall).getUTCFullYear() + HORIZON_YEARS
      ? null
      : next.getTime();
  };
}

/** Tells whether the hour field of an expression matches every hour. Such a schedule keeps its interval in a clock change. */
export function isEveryHour(expression: string): boolean {
  const text = expression.trim();
  return /^@hourly$/i.test(text) || /^(\*(\/1)?|0-23(\/1)?)$/.test(text.split(/\s+/)[1] ?? '');
}

/** Throws if the text is too long or has an invalid form, before anything expensive is computed. */
function checkShape(text: string): void {
  if (text.length > MAX_CHARS) throw invalid(`is ${text.length} characters long; the limit is ${MAX_CHARS}`);
  if (text.startsWith('@')) {
    if (!SHORTHAND.test(text)) throw invalid(`'${text}' is not a known shorthand`);
    return;
  }
  const fields = text.split(/\s+/);
  if (text === '' || fields.length !== 5) {
    throw invalid(`'${text}' has ${countOf(text === '' ? 0 : fields.length, 'field')} instead of 5`);
  }
  const invalidField = fields.find((field) => !FIELD.test(field) || LONG_NUMBER.test(field));
  if (invalidField !== undefined) throw invalid(`has an invalid field: '${invalidField}'`);
}

const FIELD_NAMES = ['minute', 'hour', 'day', 'month', 'weekday'];

/** Throws the error for an invalid expression. It names the first field that does not parse on its own, if there is one. */
function reject(text: string, parses: (pattern: string) => boolean): never {
  const fields = text.split(/\s+/);
  const at = fields.findIndex(
    (field, i) => !parses(FIELD_NAMES.map((_, j) => (i === j ? field : '*')).join(' ')),
  );
  throw invalid(
    at === -1 ? `'${text}' is invalid` : `'${text}' has an invalid ${FIELD_NAMES[at]}: '${fields[at]}'`,
  );
}

function invalid(problem: string): QueueError {
  return new QueueError('invalid-cron', `the cron expression ${problem}`);
}
