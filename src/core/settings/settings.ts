import { invalidValue } from '../errors.ts';
import { checkCommand } from '../jobs/command-text.ts';
import { BACKOFF_STRATEGIES } from '../jobs/job.ts';
import {
  formatRetention,
  parseEventRetention,
  parseRetention,
  RETENTION_FORMAT,
  type Retention,
} from '../rules/retention.ts';
import { formatSize, type NumberRange, parseNumber, parseSize } from '../text/numbers.ts';
import { isNone, joinWithOr } from '../text/words.ts';
import { checkDuration, type DurationUnit, exactDuration, parseDuration } from '../time/duration.ts';

/** One setting. The help, the documents, the checks and the tests are derived from it. */
export interface Setting<T> {
  default: T;
  /** The default in a store that several hosts can use, if it is another one. */
  manyHostsDefault?: T;
  /** True if the value is a duration, so that the name may end in a unit. */
  timed?: boolean;
  help: string;
  /** Describes the valid values. It is a function, because most commands do not need the text. */
  range(): string;
  /** Throws if the value is invalid. `bareUnit` is the unit of a number without a unit. */
  parse(text: string, key: string, bareUnit: DurationUnit): T;
  format(value: T): string;
}

const DAY_MS = 86_400_000;

function number(fallback: number, range: NumberRange, help: string): Setting<number> {
  return {
    default: fallback,
    help,
    range: () => `${range.min} to ${range.max}`,
    parse: (text, key) => parseNumber(text, key, range),
    format: String,
  };
}

const integer = (fallback: number, min: number, max: number, help: string) =>
  number(fallback, { min, max, integer: true }, help);

const duration = (fallback: number, min: number, max: number, help: string): Setting<number> => ({
  default: fallback,
  timed: true,
  help,
  range: () => `${exactDuration(min)} to ${exactDuration(max)}`,
  parse: (text, key, bareUnit) => checkDuration(parseDuration(text, key, bareUnit), key, { min, max }, text),
  format: exactDuration,
});

function size(fallback: number, min: number, max: number, help: string): Setting<number> {
  const range = (): string => `${formatSize(min)} to ${formatSize(max)}`;
  return {
    default: fallback,
    help,
    range,
    parse(text, key) {
      const bytes = parseSize(text, key);
      if (bytes >= min && bytes <= max) return bytes;
      throw invalidValue(`${key} must be a size from ${range()}, not '${text}'`);
    },
    format: formatSize,
  };
}

/** Makes a setting accept `none`, which replaces its default. */
function optional(row: Setting<number>): Setting<number | null> {
  return {
    ...row,
    default: null,
    range: () => `${row.range()}, or none`,
    parse: (text, key, bareUnit) => (isNone(text) ? null : row.parse(text, key, bareUnit)),
    format: (value) => (value === null ? 'none' : row.format(value)),
  };
}

function choice<const T extends string>(fallback: T, choices: readonly T[], help: string): Setting<T> {
  return {
    default: fallback,
    help,
    range: () => joinWithOr(choices),
    format: String,
    parse(text, key) {
      const found = choices.find((name) => name === text.trim().toLowerCase());
      if (found !== undefined) return found;
      throw invalidValue(`${key} must be one of ${choices.join(', ')}, not '${text}'`);
    },
  };
}

const retention = (ageMs: number | null, help: string): Setting<Retention | null> => ({
  default: ageMs === null ? null : { ageMs, count: null, bytes: null },
  help,
  range: () => RETENTION_FORMAT,
  parse: parseRetention,
  format: formatRetention,
});

const hook = (help: string): Setting<string | null> => ({
  default: null,
  help,
  range: () => 'a shell command, or none',
  parse(text, key) {
    if (text.trim() === '' || text.includes('\0'))
      throw invalidValue(`${key} must be a shell command or none, not '${text}'`);
    return isNone(text) ? null : checkCommand(text, key);
  },
  format: (value) => value ?? 'none',
});

export const RANGES = {
  maxRetries: { min: 0, max: 1000, integer: true },
  priority: { min: -1_000_000, max: 1_000_000, integer: true },
  backoffBase: { min: 1, max: 1000, integer: false },
  jitter: { min: 0, max: 1, integer: false },
  workerCount: { min: 1, max: 256, integer: true },
  concurrency: { min: 1, max: 1024, integer: true },
  durationMs: { min: 1, max: 3650 * DAY_MS, integer: true },
} satisfies Record<string, NumberRange>;

export const SETTINGS = {
  'max-retries': number(
    3,
    RANGES.maxRetries,
    'maximum number of attempts of a job, including the first; both 0 and 1 mean one attempt',
  ),
  'backoff-base': number(
    2,
    RANGES.backoffBase,
    'base of exponential backoff: the delay is base^attempts seconds',
  ),
  'backoff-strategy': choice('exponential', BACKOFF_STRATEGIES, 'how the delay between retries grows'),
  'backoff-max': optional(duration(0, 1, 3650 * DAY_MS, 'maximum delay between retries')),
  'backoff-jitter': number(0, RANGES.jitter, 'randomly shorten each delay by up to this fraction'),
  'retry-delay': duration(
    5000,
    0,
    365 * DAY_MS,
    'delay for fixed backoff, or increase per attempt for linear backoff',
  ),
  'job-timeout': optional(duration(0, 1, 3650 * DAY_MS, 'default timeout for each attempt of a job')),
  'kill-grace': duration(5000, 0, 3_600_000, 'time between SIGTERM and SIGKILL when a job is stopped'),
  'poll-interval': duration(
    1000,
    10,
    3_600_000,
    'polling interval of an idle worker; a new job wakes the worker at once',
  ),
  'heartbeat-interval': duration(
    5000,
    100,
    600_000,
    'how often a worker sends a heartbeat and reloads the settings',
  ),
  lease: {
    ...duration(
      30_000,
      1000,
      DAY_MS,
      'time without a heartbeat after which a worker is considered dead; at least 3 heartbeat intervals',
    ),
    // On another host the attempt of a dead worker cannot be adopted but only repeated, so its worker gets more time.
    manyHostsDefault: 120_000,
  },
  'crash-limit': integer(5, 1, 1000, 'a job becomes dead after it has lost this many attempts in crashes'),
  'worker-count': number(1, RANGES.workerCount, 'default number of worker processes for worker start'),
  'stop-timeout': optional(
    duration(
      0,
      1,
      365 * DAY_MS,
      'how long a stopping worker waits for its running jobs before it stops them',
    ),
  ),
  'max-concurrent-jobs': optional(
    integer(0, 1, 1_000_000, 'maximum number of concurrent jobs across all workers and queues'),
  ),
  'output-limit': size(
    10 * 1024 ** 2,
    64 * 1024,
    1024 ** 4,
    'maximum stored output per attempt, or per stream with --split-output; the middle of longer output is dropped',
  ),
  'shared-output': size(
    256 * 1024,
    0,
    16 * 1024 ** 2,
    'with PostgreSQL: size of the beginning and of the end of an output that other hosts can read; 0 shares nothing',
  ),
  'keep-completed': retention(30 * DAY_MS, 'retention limit for completed jobs'),
  'keep-cancelled': retention(30 * DAY_MS, 'retention limit for cancelled jobs'),
  'keep-dead': retention(null, 'retention limit for dead jobs'),
  'keep-events': {
    ...retention(7 * DAY_MS, 'retention limit for events'),
    range: () => 'an age (7d), a number of events (100000), both (7d,100000), or none',
    parse: parseEventRetention,
  },
  'on-complete': hook('hook: command to run when a job completes'),
  'on-failure': hook('hook: command to run after each failed attempt'),
  'on-dead': hook('hook: command to run when a job becomes dead'),
  'on-idle': hook('hook: command to run when no job is ready, running or waiting for a retry'),
};

export type SettingKey = keyof typeof SETTINGS;
export type Settings = { [K in SettingKey]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never };
/** The settings that a new job depends on. */
export type JobSettings = Pick<Settings, 'max-retries' | 'job-timeout'>;

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

/** Returns the default of a setting. `manyHosts` tells whether several hosts can use the store. */
export function defaultOf<T>({ default: fallback, manyHostsDefault }: Setting<T>, manyHosts = false): T {
  return (manyHosts ? manyHostsDefault : undefined) ?? fallback;
}
