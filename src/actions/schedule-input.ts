import { checkDuration, parseDuration } from '../core/duration.ts';
import { invalidValue, QueueError } from '../core/errors.ts';
import { type JobInput, limitAttempts, withChanges } from '../core/job-input.ts';
import { didYouMean } from '../core/nearest.ts';
import { CATCH_UPS, OVERLAPS, type Schedule, type ScheduleSpec, type Timing } from '../core/schedule.ts';
import { RANGES } from '../core/settings.ts';
import { localZone } from '../core/zone.ts';

/** The timing and the policies of a schedule as a user gives them. The timing is either `cron` or `every`. */
export interface ScheduleInput {
  /** A cron expression, such as `30 2 * * *` or `@daily`. */
  cron?: string | undefined;
  /** The time zone of `cron`. The default is the time zone of this machine. */
  timezone?: string | undefined;
  /** The interval in seconds, or as a text such as `90s`. */
  every?: number | string | undefined;
  overlap?: string | undefined;
  catch_up?: string | undefined;
}

const SHORTEST_INTERVAL_MS = 1000;
const EXAMPLE_HINT = "for example: queuectl schedule add nightly --cron '30 2 * * *' 'make backup'";

/** Reads the fields. `nameOf` returns the name of a field for error messages. */
export function readScheduleInput(
  given: ScheduleInput,
  now: number,
  nameOf = (field: string): string => field,
): Pick<ScheduleSpec, 'timing' | 'overlap' | 'catchUp'> {
  return {
    timing: readTiming(given, now, nameOf),
    ...readPolicies(given, { overlap: 'skip', catchUp: 'one' }, nameOf),
  };
}

type Policies = Pick<ScheduleSpec, 'overlap' | 'catchUp'>;

/** Reads the policies. Those that are not given are taken from `defaults`. */
function readPolicies(given: ScheduleInput, defaults: Policies, nameOf: (field: string) => string): Policies {
  return {
    overlap: readChoice(textOf(given.overlap), nameOf('overlap'), OVERLAPS, defaults.overlap),
    catchUp: readChoice(textOf(given.catch_up), nameOf('catch_up'), CATCH_UPS, defaults.catchUp),
  };
}

/** Returns a value as text, or undefined if the value is null or undefined. */
function textOf(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

export function readTiming(given: ScheduleInput, now: number, nameOf: (field: string) => string): Timing {
  const cron = textOf(given.cron);
  const timezone = textOf(given.timezone);
  const every = textOf(given.every);
  const either = `${nameOf('cron')} or ${nameOf('every')}`;
  if ((cron === undefined) === (every === undefined)) {
    const problem =
      cron === undefined ? `requires ${either}` : `cannot have both ${nameOf('cron')} and ${nameOf('every')}`;
    throw new QueueError('usage', `a schedule ${problem}`, EXAMPLE_HINT);
  }
  if (cron !== undefined) return { kind: 'cron', cron: cron.trim(), zone: timezone ?? localZone() };
  const what = nameOf('every');
  if (timezone !== undefined)
    throw new QueueError(
      'usage',
      `${nameOf('timezone')} only works with ${nameOf('cron')}, because ${what} has no time zone`,
    );
  const range = { ...RANGES.durationMs, min: SHORTEST_INTERVAL_MS };
  const everyMs = checkDuration(parseDuration(every!, what), what, range, every);
  // The anchor is a whole second, so that the times are easy to read.
  return { kind: 'every', everyMs, anchorAt: Math.floor(now / 1000) * 1000 };
}

function readChoice<T extends string>(
  text: string | undefined,
  what: string,
  known: readonly T[],
  defaultValue: T,
): T {
  if (text === undefined) return defaultValue;
  const found = known.find((one) => one === text.trim().toLowerCase());
  if (found !== undefined) return found;
  throw invalidValue(`${what} must be one of ${known.join(', ')}, not '${text}'${didYouMean(text, known)}`);
}

/** The changes to a schedule. `nameOf` returns the name of a field for error messages. */
export interface ScheduleChanges {
  schedule: ScheduleInput;
  job: JobInput;
  nameOf: (field: string) => string;
}

/** Returns the changed schedule. Its timing is the same object if it was not changed. */
export function changedSchedule(current: Schedule, changes: ScheduleChanges, now: number): ScheduleSpec {
  const { schedule: given, job, nameOf } = changes;
  if (Object.keys(given).length + Object.keys(job).length === 0)
    throw new QueueError('usage', 'no changes given', 'for help: queuectl help schedule edit');
  return {
    name: current.name,
    timing: changedTiming(current.timing, changes, now),
    ...readPolicies(given, current, nameOf),
    job: changedJob(current.job, job),
  };
}

/** Returns the changed timing. A new cron expression keeps the time zone, and a new time zone keeps the expression. */
function changedTiming(current: Timing, { schedule: given, nameOf }: ScheduleChanges, now: number): Timing {
  const { cron, timezone, every } = given;
  if (cron === undefined && timezone === undefined && every === undefined) return current;
  if (current.kind === 'every' || every !== undefined) return readTiming(given, now, nameOf);
  return readTiming({ cron: cron ?? current.cron, timezone: timezone ?? current.zone }, now, nameOf);
}

/** Returns the changed job. A new `command` replaces the old `argv`, and a new `argv` replaces the old `command`. */
function changedJob(current: JobInput, given: JobInput): JobInput {
  // A schedule of an older version may give an at-most-once job several attempts.
  limitAttempts(current);
  const { command: _, argv: __, ...rest } = current;
  const keepsCommand = given.command === undefined && given.argv === undefined;
  return withChanges(keepsCommand ? current : rest, given);
}
