import { QueueError } from './errors.ts';

/** The first matching wall time after this one; null when there is none any more. */
export type NextWall = (wall: number) => number | null;

const LONGEST = 256;
const NICKNAMES = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/i;
/** Numbers of at most two digits, names, and the signs between them: no range can be long. */
const FIELD = /^[\da-z*,/#-]+$/i;
const LONG_NUMBER = /\d{3}/;
/** Beyond every calendar that cron can describe: 29 February on a certain weekday comes within 40 years. */
const HORIZON_YEARS = 41;

/**
 * Reads a cron expression: five fields, names, `@daily` and its kin. The library is loaded here, when a schedule needs
 * it, and does nothing but calendar arithmetic in UTC; zones and their changes of the clock are ours (times.ts),
 * because it fires twice, not at all or backwards around them.
 */
export async function readCron(expression: string): Promise<NextWall> {
  const text = expression.trim();
  checkShape(text);
  const { Cron } = await import('croner');
  const parse = (pattern: string) => new Cron(pattern, { paused: true, utcOffset: 0, mode: '5-part' });
  const cron =
    readable(() => parse(text)) ?? refuse(text, (pattern) => readable(() => parse(pattern)) !== null);
  return (wall) => {
    const next = cron.nextRun(new Date(wall));
    return next === null || next.getUTCFullYear() > new Date(wall).getUTCFullYear() + HORIZON_YEARS
      ? null
      : next.getTime();
  };
}

/** An expression for every hour follows elapsed time; one that names hours means each of them once. */
export function isEveryHour(expression: string): boolean {
  const text = expression.trim();
  return /^@hourly$/i.test(text) || /^(\*(\/1)?|0-23(\/1)?)$/.test(text.split(/\s+/)[1] ?? '');
}

/** Before anything is computed: what is too long or asks for a long range costs nothing. */
function checkShape(text: string): void {
  if (text.length > LONGEST) throw invalid(`is ${text.length} characters long; the limit is ${LONGEST}`);
  if (text.startsWith('@')) {
    if (!NICKNAMES.test(text)) throw invalid(`'${text}' is not a known shorthand`);
    return;
  }
  const fields = text.split(/\s+/);
  if (text === '' || fields.length !== 5) {
    throw invalid(`'${text}' has ${text === '' ? 0 : fields.length} fields instead of 5`);
  }
  const wrong = fields.find((field) => !FIELD.test(field) || LONG_NUMBER.test(field));
  if (wrong !== undefined) throw invalid(`has the invalid field '${wrong}'`);
}

/** The library's own words are about its classes; null says enough. */
function readable<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}

const FIELDS = ['minute', 'hour', 'day', 'month', 'weekday'];

/** Names the field that is wrong when it stands alone. */
function refuse(text: string, parses: (pattern: string) => boolean): never {
  const fields = text.split(/\s+/);
  const at = fields.findIndex((field, i) => !parses(FIELDS.map((_, j) => (i === j ? field : '*')).join(' ')));
  throw invalid(
    at === -1 ? `'${text}' is invalid` : `'${text}' has the invalid ${FIELDS[at]} '${fields[at]}'`,
  );
}

function invalid(problem: string): QueueError {
  return new QueueError('invalid-cron', `the cron expression ${problem}`);
}
