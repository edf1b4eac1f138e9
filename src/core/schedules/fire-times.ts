import { QueueError } from '../errors.ts';
import { orNull } from '../text/language.ts';
import { countOf } from '../text/words.ts';
import { findOffsetChange, instantOf, knownZone, offsetAt } from '../time/zone.ts';
import { SHORTEST_INTERVAL_MS, type Timing } from './schedule.ts';

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
  checkShape(expression.trim());
  return (await cronReader())(expression);
}

/** Loads the library. Returns a function that reads a cron expression without waiting. */
export async function cronReader(): Promise<(expression: string) => NextWall> {
  const { Cron } = await import('croner');
  return (expression) => nextWallOf(expression.trim(), Cron);
}

function nextWallOf(text: string, Cron: typeof import('croner').Cron): NextWall {
  checkShape(text);
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

/** The times at which a schedule fires. */
export interface FireTimes {
  /** Returns the first fire time after `instant`, or null if there is none. */
  after(instant: number): number | null;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export async function fireTimes(timing: Timing): Promise<FireTimes> {
  if (timing.kind === 'every') return atInterval(timing.everyMs, timing.anchorAt);
  const { zone } = timing;
  // The machine that stored the schedule may know other time zones.
  if (knownZone(zone) === null) throw new QueueError('invalid-cron', `unknown time zone '${zone}'`);
  const next = await readCron(timing.cron);
  const nextOf = isEveryHour(timing.cron) ? nextOfEveryHour : nextOfNamedHours;
  return { after: (instant) => nextOf(next, zone, instant) };
}

/** Returns fire times at a fixed interval. They may be before the anchor, which is in the future if the clock was ahead at the creation. */
function atInterval(everyMs: number, anchorAt: number): FireTimes {
  // Only a row that was changed by hand has a shorter interval. Its schedule never fires, and `db check` reports it.
  if (!(everyMs >= SHORTEST_INTERVAL_MS)) return { after: () => null };
  return { after: (instant) => anchorAt + (Math.floor((instant - anchorAt) / everyMs) + 1) * everyMs };
}

/** Finds the next fire time of an expression that fires every hour. It fires in both passes of a repeated hour, and not in a skipped one. */
function nextOfEveryHour(next: NextWall, zone: string, instant: number): number | null {
  let from = instant;
  let offset = offsetAt(zone, from);
  for (;;) {
    const wall = next(from + offset);
    if (wall === null) return null;
    const found = wall - offset;
    if (offsetAt(zone, found) === offset) return found;
    // The offset changes before that time, so the search continues from the change with the new offset.
    const change = findOffsetChange((at) => offsetAt(zone, at), from, found);
    offset = offsetAt(zone, change);
    from = change - 1;
  }
}

/**
 * Finds the next fire time of an expression that names hours. It fires once for each matching wall time. A repeated time
 * fires when it first occurs. A skipped time fires later, by as much as the clock was set forward.
 */
function nextOfNamedHours(next: NextWall, zone: string, instant: number): number | null {
  // A time that was skipped within the last day may still have to fire.
  let wall = next(instant + Math.min(offsetAt(zone, instant), offsetAt(zone, instant - DAY_MS)));
  let best: number | null = null;
  for (let end = Number.POSITIVE_INFINITY; wall !== null && wall < end; wall = next(wall)) {
    const { instant: found, skipped } = instantOf(zone, wall);
    if (found <= instant) continue;
    best = Math.min(best ?? found, found);
    // A later wall time that is not skipped may come earlier than a skipped one.
    end = Math.min(end, wall + skipped);
  }
  return best;
}

/** Returns the last `maxCount` fire times from `from` to `to`, oldest first. Searches back from `to`, because the range may be long. */
export function lastTimes({ after }: FireTimes, from: number, to: number, maxCount: number): number[] {
  for (let span = MINUTE_MS; ; span *= 2) {
    const start = Math.max(from, to - span);
    const found: number[] = [];
    for (let at = after(start - 1); at !== null && at <= to; at = after(at)) found.push(at);
    if (start === from || found.length >= maxCount) return found.slice(-maxCount);
  }
}

/** Returns the first `count` fire times after `from`, or fewer if there are no more. */
export function nextTimes({ after }: FireTimes, from: number, count: number): number[] {
  const found: number[] = [];
  for (let at = after(from); at !== null && found.length < count; at = after(at)) found.push(at);
  return found;
}
