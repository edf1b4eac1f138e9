import { checkDuration, parseDuration } from '../core/duration.ts';
import { QueueError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import { CATCH_UPS, OVERLAPS, type ScheduleSpec, type Timing } from '../core/schedule.ts';
import { RANGES } from '../core/settings.ts';
import { localZone } from '../core/zone.ts';

/** When a schedule fires, as a user says it: `cron` or `every`. */
export interface ScheduleInput {
  /** Five fields such as `30 2 * * *`, or `@daily`. */
  cron?: string | undefined;
  /** Of `cron`; that of this machine unless given. */
  timezone?: string | undefined;
  /** Seconds, or text such as `90s`; from now on. */
  every?: number | string | undefined;
  overlap?: string | undefined;
  catch_up?: string | undefined;
}

const SHORTEST_MS = 1000;
const EXAMPLE = "for example: queuectl schedule add nightly --cron '30 2 * * *' 'make backup'";

/** `called`: how the one who gave a field knows it. */
export function readScheduleInput(
  given: ScheduleInput,
  now: number,
  called = (field: string): string => field,
): Pick<ScheduleSpec, 'timing' | 'overlap' | 'catchUp'> {
  return {
    timing: readTiming(given, now, called),
    ...readPolicies(given, { overlap: 'skip', catchUp: 'one' }, called),
  };
}

type Policies = Pick<ScheduleSpec, 'overlap' | 'catchUp'>;

/** `otherwise`: what holds where nothing was given. */
export function readPolicies(
  given: ScheduleInput,
  otherwise: Policies,
  called: (field: string) => string,
): Policies {
  return {
    overlap: choice(textOf(given.overlap), called('overlap'), OVERLAPS, otherwise.overlap),
    catchUp: choice(textOf(given.catch_up), called('catch_up'), CATCH_UPS, otherwise.catchUp),
  };
}

/** Null stands for "not given", as in a job. */
function textOf(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

export function readTiming(given: ScheduleInput, now: number, called: (field: string) => string): Timing {
  const cron = textOf(given.cron);
  const timezone = textOf(given.timezone);
  const every = textOf(given.every);
  const either = `${called('cron')} or ${called('every')}`;
  if ((cron === undefined) === (every === undefined)) {
    const problem =
      cron === undefined ? `requires ${either}` : `cannot have both ${called('cron')} and ${called('every')}`;
    throw new QueueError('usage', `a schedule ${problem}`, EXAMPLE);
  }
  if (cron !== undefined) return { kind: 'cron', cron: cron.trim(), zone: timezone ?? localZone() };
  const what = called('every');
  if (timezone !== undefined)
    throw new QueueError(
      'usage',
      `${called('timezone')} only works with ${called('cron')}, because ${what} has no time zone`,
    );
  const range = { ...RANGES.durationMs, min: SHORTEST_MS };
  const everyMs = checkDuration(parseDuration(every!, what), what, range, every);
  // Whole seconds, for times that can be read.
  return { kind: 'every', everyMs, anchorAt: Math.floor(now / 1000) * 1000 };
}

function choice<T extends string>(
  text: string | undefined,
  what: string,
  known: readonly T[],
  fallback: T,
): T {
  if (text === undefined) return fallback;
  const found = known.find((one) => one === text.trim().toLowerCase());
  if (found !== undefined) return found;
  const guess = nearest(text, known);
  throw new QueueError(
    'invalid-value',
    `${what} must be one of ${known.join(', ')}, not '${text}'${guess === null ? '' : `; did you mean '${guess}'?`}`,
  );
}
