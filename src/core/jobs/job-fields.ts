import { RANGES } from '../settings/settings.ts';
import { maskEnv, maskUrls } from '../text/mask.ts';
import { formatDuration } from '../time/duration.ts';
import { isRelativeTime, LATEST_DATE_MS, toIso } from '../time/time.ts';
import {
  anyOf,
  boolean,
  duration,
  integer,
  listOf,
  maybe,
  milliseconds,
  number,
  oneOf,
  text,
  textMap,
  time,
  timeInput,
} from '../wire/schema.ts';
import { PARENT, PRINTED_PARENT, readDependencies } from './dependencies.ts';
import { type Fields, section } from './field.ts';
import { checkId, checkIdempotencyKey, checkName, checkQueueName } from './id.ts';
import {
  BACKOFF_STRATEGIES,
  type Dependency,
  PARENT_FAILURES,
  PRIORITIES,
  type PriorityName,
} from './job.ts';
import * as read from './read-field.ts';
import { checkStdin, EXIT_CODES, readDelay, readExitCodes, readSecretEnv } from './read-field.ts';

/** Returns the field for a hook: a command that runs after an event of the job, instead of the one in the settings. */
const hook = <const Event extends string>(event: Event, help: string) =>
  ({
    in: 'hooks',
    key: event,
    spellings: [`on-${event}`],
    type: text,
    read: read.command,
    flag: `--on-${event} COMMAND  ${help}`,
    show: [`on ${event}`, maskUrls],
  }) as const;

/**
 * Every field of a job that can be set, in the order of the help. Input, types, JSON schemas, flags, columns, `show` and
 * `edit` derive from these rows. See docs/internals/adding-a-field.md.
 */
export const JOB_FIELDS = {
  ...section('What to run', {
    command: {
      spellings: ['cmd'],
      type: text,
      read: read.command,
      plain: true,
      flag: '--command -c TEXT  shell command to run',
      edit: '--command -c TEXT  replace the shell command',
    },
    /** A program and its arguments, run without a shell. `command` is then only its readable form. */
    argv: { type: listOf(text), read: read.argv, default: null },
    id: {
      spellings: ['job_id', 'jobId'],
      type: text,
      read: read.checked(checkId),
      plain: true,
      unscheduled: true,
      flag: '--id ID  unique id of the job (default: generated)',
    },
    /** A name for lists and filters. Several jobs can have the same name. */
    name: {
      type: text,
      read: read.checked(checkName),
      default: null,
      flag: '--name NAME  name for lists and filters; several jobs can have the same name',
      edit: '--set-name NAME  change the name',
    },
    queue: {
      type: text,
      read: read.checked(checkQueueName),
      default: 'default',
      plain: true,
      flag: '--queue NAME  queue to add the job to (default: "default")',
      edit: '--set-queue NAME  move the job to this queue',
    },
    tags: {
      type: textMap,
      accepts: anyOf(textMap, listOf(text)),
      read: read.tags,
      default: {},
      flag: '--tag K=V  set a tag, such as team=web; can be repeated',
      many: true,
      edit: '--set-tag K=V  replace all tags; repeat the flag to set several tags',
      show: 'tags',
    },
  }),
  ...section('When to run', {
    /** The earliest start: an ISO time, epoch seconds, or a text such as `+10m`. */
    run_at: {
      spellings: ['scheduled_at', 'scheduledAt', 'available_at', 'availableAt', 'run_after', 'runAfter'],
      type: time,
      accepts: timeInput,
      read: read.time,
      isRelative: (value) => isRelativeTime(String(value)),
      print: toIso,
      range: { min: 0, max: LATEST_DATE_MS },
      default: null,
      edit: true,
      unscheduled: true,
      flag: "--run-at TIME  earliest start time: 2030-01-31T09:00 (local time) or …09:00Z, 23:30, 2pm, 'tomorrow 09:00', 'friday 18:00', +10m or epoch seconds",
    },
    /** The delay before the first attempt: seconds, or a text such as `10m`. */
    delay: {
      key: 'runAt',
      spellings: ['delay_seconds', 'delaySeconds'],
      accepts: duration,
      read: (value, name, now) => now + readDelay(value, name),
      isRelative: () => true,
      unscheduled: true,
      flag: '--delay TIME  delay before the first attempt, such as 10m',
    },
    /** Adds the job on hold. A printed job does not have the field, because the job may have been released since. */
    hold: {
      spellings: ['held'],
      accepts: boolean,
      read: read.switchedOn,
      unscheduled: true,
      flag: '--hold  add the job without starting it; to start it: queuectl release ID',
    },
    priority: {
      type: integer,
      accepts: anyOf(integer, oneOf([...PRIORITIES.keys()] as PriorityName[])),
      read: read.priority,
      range: RANGES.priority,
      default: 0,
      plain: true,
      edit: true,
      flag: '--priority -p N  priority: low, normal, high, urgent or a number; jobs with a higher priority run first (default: 0)',
    },
  }),
  ...section('Retries and timeout', {
    /** The maximum number of attempts, including the first. */
    max_retries: {
      spellings: ['max-retries', 'retries', 'max_attempts', 'maxAttempts', 'max_tries', 'maxTries'],
      type: integer,
      read: read.inRange(RANGES.maxRetries),
      range: RANGES.maxRetries,
      plain: true,
      edit: true,
      flag: '--max-retries -r N  maximum number of attempts, including the first (default: the max-retries setting)',
    },
    /** The timeout of each attempt: seconds, or a text such as `5m`. */
    timeout: {
      key: 'timeoutMs',
      spellings: ['timeout_seconds', 'timeoutSeconds'],
      accepts: duration,
      read: read.timeout(1000),
      edit: true,
      flag: '--timeout -t TIME  stop an attempt that runs longer than this, such as 30s or 5m; none for no limit (default: the job-timeout setting)',
    },
    timeout_ms: {
      type: maybe(integer),
      accepts: milliseconds,
      read: read.timeout(1),
      range: { min: 1, max: LATEST_DATE_MS },
      plain: true,
      edit: true,
      show: ['timeout', formatDuration],
    },
    /** How the delay between retries grows. Without it, the setting at the time of the failure applies. */
    backoff: {
      in: 'policy',
      spellings: ['backoff_strategy', 'backoffStrategy', 'backoff-strategy', 'retry_strategy'],
      type: oneOf(BACKOFF_STRATEGIES),
      read: read.strategy,
      flag: '--backoff exponential|linear|fixed  how the delay between retries grows (default: the backoff-strategy setting)',
      show: 'backoff',
    },
    backoff_base: {
      spellings: ['backoff-base', 'base_backoff'],
      type: number,
      read: read.inRange(RANGES.backoffBase),
      range: RANGES.backoffBase,
      default: null,
      flag: '--backoff-base N  for exponential backoff: wait N^attempts seconds before a retry (default: the backoff-base setting)',
      show: 'backoff base',
    },
    /** The maximum delay: seconds, or a text such as `10m`. */
    backoff_max: {
      in: 'policy',
      key: 'backoffMaxMs',
      spellings: ['backoff-max', 'max_backoff', 'maxBackoff', 'backoff_cap'],
      accepts: duration,
      read: read.delay(1000, 1),
      flag: '--backoff-max TIME  maximum delay between retries (default: the backoff-max setting)',
    },
    backoff_max_ms: {
      in: 'policy',
      type: integer,
      read: read.delay(1, 1),
      show: ['backoff max', formatDuration],
    },
    /** The delay of fixed backoff and the step of linear backoff: seconds, or a text such as `10m`. */
    retry_delay: {
      in: 'policy',
      key: 'retryDelayMs',
      spellings: ['retry-delay'],
      accepts: duration,
      read: read.delay(1000),
      flag: '--retry-delay TIME  delay for fixed backoff, or increase per attempt for linear backoff (default: the retry-delay setting)',
    },
    retry_delay_ms: {
      in: 'policy',
      type: integer,
      read: read.delay(1),
      show: ['retry delay', formatDuration],
    },
    /** Every delay is randomly shortened by up to this fraction, from 0 to 1. */
    jitter: {
      in: 'policy',
      spellings: ['backoff_jitter', 'backoffJitter', 'retry_jitter'],
      type: number,
      read: read.inRange(RANGES.jitter),
      range: RANGES.jitter,
      flag: '--jitter N  randomly shorten each delay by up to this fraction, from 0 to 1 (default: the backoff-jitter setting)',
      show: 'jitter',
    },
    /** Retries only after these exit codes: `[75]`, or a text such as `64-78`. */
    retry_on: {
      in: 'policy',
      type: listOf(integer),
      accepts: EXIT_CODES,
      read: readExitCodes,
      flag: '--retry-on CODES  retry only after these exit codes, such as 75 or 1,75',
      show: 'retry on',
    },
    /** Never retries after these exit codes. */
    no_retry_on: {
      in: 'policy',
      type: listOf(integer),
      accepts: EXIT_CODES,
      read: readExitCodes,
      flag: '--no-retry-on CODES  do not retry after these exit codes, such as 64-78',
      show: 'no retry on',
    },
    /** Starts the command at most once: a failed, stopped or lost attempt makes the job dead. `max_retries` is at most 1. */
    at_most_once: {
      in: 'policy',
      type: boolean,
      read: read.switchedOn,
      flag: '--at-most-once  start the job only once; it becomes dead if the attempt fails, is stopped or is lost in a crash',
      show: 'at most once',
    },
  }),
  ...section('Environment and input', {
    cwd: {
      type: text,
      read: read.directory,
      plain: true,
      flag: '--cwd DIR  working directory (default: the current directory)',
      show: 'directory',
    },
    env: {
      type: textMap,
      read: read.env,
      default: {},
      flag: '--env K=V  set an environment variable; can be repeated',
      many: true,
      edit: '--env K=V  replace all environment variables; repeat the flag to set several variables',
      show: ['environment', maskEnv],
    },
    /** Names of variables that the command gets from its worker's environment. Their values are never stored. */
    secret_env: {
      spellings: ['secret-env', 'secrets'],
      type: listOf(text),
      read: readSecretEnv,
      default: [],
      column: 'start',
      flag: "--secret-env A,B  copy these variables from the worker's environment when the job runs; only their names are stored",
      many: true,
      show: ['secrets', (names: readonly string[]) => names.join(' ')],
    },
    /** Inherits only basic variables such as PATH and HOME from the worker, and those in `secret_env`. */
    clean_env: {
      spellings: ['clean-env'],
      type: boolean,
      read: read.switchedOn,
      default: false,
      column: 'start',
      flag: '--clean-env  inherit only --secret-env variables and basic variables such as PATH and HOME from the worker',
      show: 'clean environment',
    },
    /** The standard input of the command, 1 MiB at most. */
    stdin: {
      spellings: ['input'],
      type: text,
      read: read.checked(checkStdin),
      default: null,
      column: null,
      flag: '--stdin TEXT  standard input for the command: text, @FILE to read a file, or - to read standard input (default: empty)',
    },
  }),
  ...section('Dependencies', {
    /** Ids of jobs that must complete first, or `{id, on}` to require another end. */
    depends_on: {
      spellings: ['after'],
      type: listOf(PRINTED_PARENT),
      accepts: anyOf(PARENT, listOf(PARENT)),
      read: readDependencies,
      print: (parents: Dependency[]) => parents.map((one) => (one.on === 'ok' ? one.id : one)),
      default: [],
      unscheduled: true,
      flag: '--after ID,…  run after these jobs complete; any:ID accepts any result, and notok:ID requires that the job is dead or cancelled',
      many: true,
    },
    /** Decides what happens if a parent job does not end as required. */
    on_parent_failure: {
      in: 'policy',
      type: oneOf(PARENT_FAILURES),
      read: read.oneOf(PARENT_FAILURES),
      unscheduled: true,
      flag: '--on-parent-failure cancel|hold|run  what to do with the job if --after can no longer be satisfied (default: cancel)',
    },
  }),
  ...section('Hooks', {
    /** These commands run as jobs of their own, instead of the hooks in the settings. `none` runs no command. */
    on_complete: hook(
      'complete',
      'run this command when the job completes (default: the on-complete setting)',
    ),
    on_failure: hook(
      'failure',
      'run this command after each failed attempt (default: the on-failure setting)',
    ),
    on_dead: hook('dead', 'run this command when the job becomes dead (default: the on-dead setting)'),
  }),
  ...section('Uniqueness', {
    /** Adds no job while another job reserves this key. The enqueue then returns that job with `existing: true`. */
    unique_key: {
      in: 'unique',
      key: 'key',
      type: text,
      read: read.checked(checkName),
      flag: '--unique KEY  do not add the job if an unfinished job has the same key',
      show: 'unique key',
    },
    unique_for: {
      in: 'unique',
      key: 'forMs',
      accepts: duration,
      read: read.delay(1000, 1),
      flag: '--unique-for TIME  with --unique: reserve the key for this long, regardless of when the job finishes',
    },
    unique_while: {
      in: 'unique',
      key: 'while',
      accepts: oneOf(['pending', 'active'] as const),
      read: read.uniqueWhile,
      flag: '--unique-while pending|active  with --unique: reserve the key until the job starts (pending) or finishes (active, the default)',
    },
    /** Makes the enqueue idempotent. All jobs of one enqueue must have the same key, or none. */
    idempotency_key: {
      spellings: ['idempotency-key'],
      accepts: text,
      read: read.checked(checkIdempotencyKey),
      unscheduled: true,
      flag: '--idempotency-key TEXT  make the command safe to repeat: a repeat within 24 hours adds nothing and returns the original jobs',
    },
  }),
  ...section('Output', {
    /** Stores stdout and stderr separately. */
    split_output: {
      spellings: ['split-output'],
      type: boolean,
      read: read.switchedOn,
      default: false,
      column: 'start',
      flag: "--split-output  store stdout and stderr separately (see 'queuectl help logs')",
      show: ['output', () => 'stdout and stderr are stored separately'],
    },
  }),
} as const satisfies Fields;
