import { errorTable, NO_RESULT_CODE, WAIT_TIMEOUT_CODE } from '../core/errors.ts';
import { CONDITION_FIELDS } from '../core/filter.ts';
import { STATE_ALIASES, STATES, type State } from '../core/job.ts';
import { nearest } from '../core/nearest.ts';
import { SETTING_KEYS, SETTINGS, type Setting } from '../core/settings.ts';
import { WAITING_REASONS } from '../core/waiting-reason.ts';
import { capitalized } from '../core/words.ts';
import { REASON_MEANINGS } from './filters.ts';
import type { Block, Row } from './help-page.ts';

export interface Topic {
  summary: string;
  page(): Block[];
}

/** The pages of `queuectl help TOPIC`. Some tables are generated from the code. */
export const TOPICS: Record<string, Topic> = {
  retries: { summary: 'Retries, backoff and the dead letter queue', page: retriesPage },
  filters: { summary: 'Select jobs by state, queue, age, error and more', page: filtersPage },
  cron: { summary: 'Syntax of cron expressions, with examples', page: cronPage },
  hooks: { summary: 'Run a command when a job completes or fails', page: hooksPage },
  formatting: { summary: 'Tables, JSON, CSV, templates, times and colors', page: formattingPage },
  config: { summary: 'All settings with their allowed values and defaults', page: configPage },
  environment: { summary: 'Environment variables', page: environmentPage },
  'exit-codes': { summary: 'Exit codes of queuectl', page: exitCodesPage },
};

const SYNONYMS: Record<string, string> = { setting: 'config', settings: 'config', configuration: 'config' };

/** Returns the name of the topic that a word is a synonym of or resembles, or null. */
export function similarTopic(word: string): string | null {
  return SYNONYMS[word] ?? nearest(word, Object.keys(TOPICS));
}

const EXIT_CODE_MEANINGS: Record<number, string> = {
  0: 'success',
  1: 'failure',
  2: 'incorrect usage',
  3: 'not found',
  4: 'conflict or wrong state',
  5: 'database busy or unavailable',
  6: 'not permitted',
  7: 'only some of the jobs could be changed',
};

function exitCodesPage(): Block[] {
  const rows = Object.entries(EXIT_CODE_MEANINGS).map(([code, meaning]): Row => {
    const errors = Object.entries(errorTable()).filter(([, row]) => row.exit === Number(code));
    const names = errors.map(([name]) => name).join(', ');
    return [code, names === '' ? meaning : `${meaning}: ${names}`];
  });
  return [
    'Each exit code is listed with the names of the errors that cause it. With --json, the name of an error is in the field "code".',
    { heading: 'Exit codes' },
    rows,
    { heading: 'run, wait and enqueue --wait' },
    'These commands exit with the exit code of the job. For several jobs, they exit with the first exit code that is not 0. In other cases, they exit with one of these codes:',
    [
      ['128+n', 'signal n killed the job'],
      ['130', 'the job was cancelled'],
      [String(WAIT_TIMEOUT_CODE), 'the job did not finish within the wait timeout'],
      [String(NO_RESULT_CODE), 'queuectl itself failed'],
    ],
  ];
}

function environmentPage(): Block[] {
  return [
    { heading: 'Read by queuectl' },
    [
      ['QUEUECTL_DB', 'database file or PostgreSQL URL, unless you use --db (alias: QUEUECTL_DB_PATH)'],
      ['QUEUECTL_COPY_TO', "target of 'db copy', unless you use --to"],
      ['QUEUECTL_HOME', 'directory of the default database, queue.db (default: ~/.queuectl)'],
      [
        'QUEUECTL_STORE_TIMEOUT',
        'time to wait for a database server, unless you use --store-timeout (default: 30s)',
      ],
      [
        'QUEUECTL_HOSTNAME',
        'name of this host, under which its workers are listed (default: the host name of this machine)',
      ],
      ['QUEUECTL_DEBUG', 'set to 1 to print a stack trace after an error'],
      ['QUEUECTL_PAGER', 'pager for help; set it to cat to use no pager (default: $PAGER or less -FIRX)'],
      ['QUEUECTL_NO_INPUT', 'if set, commands fail instead of asking for confirmation (alias: CI)'],
      ['QUEUECTL_ANY_OWNER', 'set to 1 to allow a database that another user owns or can write to'],
      ['NO_COLOR', 'if set, colors are off'],
      ['FORCE_COLOR', 'if set, colors are on even in a pipe; 0 turns them off (alias: CLICOLOR_FORCE)'],
      ['TERM', 'if set to dumb, queuectl uses no colors and no pager'],
      ['TZ', 'local time zone, such as Europe/Berlin (default: the time zone of this machine)'],
      [
        'LC_ALL',
        'locale (default: $LC_CTYPE or $LANG); top uses only ASCII characters if the locale is not UTF-8',
      ],
      ['COLUMNS, LINES', 'size of the terminal, if queuectl cannot detect it'],
      ['VISUAL', 'editor for queuectl edit (default: $EDITOR)'],
      ['USER', 'user name that is recorded with changes, such as pausing a queue (default: $LOGNAME)'],
      ['QUEUECTL_HOOK_EVENT', 'set in hooks, so that jobs enqueued by a hook do not trigger hooks'],
      ['TMPDIR', 'directory for temporary copies of standard input or of a database (default: /tmp)'],
      [
        'QUEUECTL_CRASH_AT',
        'for tests: POINT:N kills the process when it reaches this point for the Nth time, for example after-claim:2. Append :stop, :throw or :block to stop the process, to throw an error or to block for a while instead. Jobs and replacement workers do not inherit this variable.',
      ],
    ],
    { heading: 'Set for each job' },
    'A job gets the environment of the worker without its trace context (TRACEPARENT, TRACESTATE, BAGGAGE), the variables set with --env, and these variables:',
    [
      ['QUEUECTL_JOB_ID', 'id of the job'],
      ['QUEUECTL_ATTEMPT', 'number of the attempt, starting at 1'],
      ['QUEUECTL_QUEUE', 'queue of the job'],
      ['QUEUECTL_FENCE', 'fencing token: a number that increases with each attempt'],
      ['QUEUECTL_RUN', 'identifier that queuectl uses to find the processes of the attempt'],
      ['QUEUECTL_SCHEDULE', 'schedule that enqueued the job, if any'],
      ['QUEUECTL_SCHEDULED_AT', 'time at which the schedule was due'],
      ...HOOK_VARIABLES,
    ],
  ];
}

const HOOK_VARIABLES: Row[] = [
  ['QUEUECTL_HOOK_EVENT', 'in a hook: complete, failure, dead or idle'],
  ['QUEUECTL_HOOK_JOB_ID', 'in a hook: id of the job'],
  ['QUEUECTL_HOOK_STATE', 'in a hook: state of the job'],
  ['QUEUECTL_HOOK_EXIT_CODE', 'in a hook: exit code of the last attempt'],
  ['QUEUECTL_HOOK_ERROR', 'in a hook: error of the last attempt'],
  ['QUEUECTL_HOOK_QUEUE', 'in a hook: queue of the job'],
  ['QUEUECTL_HOOK_ATTEMPTS', 'in a hook: number of finished attempts'],
];

function hooksPage(): Block[] {
  return [
    'A hook is a shell command that queuectl runs after an event, for example when a job completes or fails. It runs as a job in the queue "hooks". Every worker runs jobs from this queue, even if its --queue flag does not list it.',
    { heading: 'Examples' },
    {
      code: [
        '# Set a hook for all jobs',
        'queuectl config set on-dead \'logger "job $QUEUECTL_HOOK_JOB_ID is dead"\'',
        '# Set a hook for one job',
        "queuectl enqueue --on-complete './notify done' 'make report'",
        '# Disable a hook for one job',
        "queuectl enqueue --on-dead none 'make report'",
      ],
    },
    { heading: 'Events' },
    [
      ['on-complete', 'The job has completed.'],
      [
        'on-failure',
        'An attempt has failed. After the last attempt, both on-failure and on-dead run. Cancelled and stopped attempts are not failures.',
      ],
      ['on-dead', 'The job has moved to the dead letter queue.'],
      [
        'on-idle',
        'An attempt has ended, and no job is ready, running or waiting for a retry. Held jobs, jobs in paused queues and jobs that are due later are ignored. This hook is available only as a setting.',
      ],
    ],
    { heading: 'Environment' },
    HOOK_VARIABLES.map(([name, text]): Row => [name, text.replace('in a hook: ', '')]),
    { heading: 'Details' },
    'A hook from the settings runs in your home directory. A flag such as --on-dead overrides the setting for one job. Hooks do not trigger other hooks, and neither do the jobs that they enqueue.',
  ];
}

function formattingPage(): Block[] {
  return [
    'Commands print results to stdout. They print notes, warnings and progress to stderr.',
    { heading: 'Output' },
    [
      ['on a terminal', 'a table as wide as the terminal, with colors and times such as "3m ago"'],
      ['in a pipe', 'the same columns, separated by tabs, without a header and with ISO 8601 times'],
      ['--json', 'one JSON document, or one JSON object per line for events; a list is an array'],
      ['--json=id,state', 'only these fields of each object; --json=help lists all fields'],
      ['--quiet', 'only ids for lists and new jobs (unless you use --json), and no notes or warnings'],
      ['--color WHEN', 'auto (colors on a terminal, unless NO_COLOR is set), always or never'],
    ],
    { heading: 'Lists' },
    'These flags work with list, dlq list, queue list, schedule list, worker list, config list and events.',
    [
      ['--format table', 'aligned columns, even in a pipe'],
      [
        '--format tsv, csv',
        'values separated by tabs or commas; a tab or line break in a value is printed as \\t or \\n',
      ],
      [
        '--format json, jsonl',
        'a JSON array (json) or one JSON object per line (jsonl, and always for events)',
      ],
      ['--format ids', 'only ids, as with --quiet'],
      [
        '--format TEXT',
        "a template for each line with field names in braces, such as '{id}\\t{state}'; \\t is a tab, and \\n is a line break",
      ],
      ['--header', 'print column titles in the first line (only for tsv and csv)'],
      ['--wide', 'show all columns in full, even if they do not fit the terminal (alias: --no-trunc)'],
    ],
    { heading: 'Times' },
    'These flags work with all lists and with show, dlq show, schedule show and status.',
    [
      ['--time iso', '2026-01-31T08:00:00.000Z'],
      ['--time relative', '3m ago'],
      ['--time local', '2026-01-31 09:00:00 (in the local time zone)'],
      ['--time unix', '1769846400 (seconds since 1970)'],
      ['--utc', 'like --time local, but in UTC: 2026-01-31 08:00:00Z'],
    ],
    { heading: 'Details' },
    'Some flags cannot be combined: --json with --format, --quiet with a --format other than ids, and --time with JSON or ids.',
    'Times in JSON are ISO 8601 in UTC with milliseconds. Durations in JSON are in whole milliseconds, in fields whose names end in _ms. On a terminal, control characters are printed as escapes such as \\x1b. Only colors and carriage returns in the output of a job take effect.',
    'With --json, errors and warnings are JSON objects on stderr: {"error":{"code","message","hint"}} and {"warning":{"message"}}. Help and the log of worker start are always text.',
  ];
}

function configPage(): Block[] {
  return [
    { heading: 'Settings' },
    'Settings are stored in the database and shared by all workers. Running workers apply a change at their next heartbeat. A flag or a field of a job overrides the setting for that job. You can write the name of a setting as max-retries, max_retries or maxRetries.',
    SETTING_KEYS.map((key): Row => {
      const row = SETTINGS[key] as Setting<unknown>;
      return [key, `${capitalized(row.help)}. Value: ${row.range()}. Default: ${defaultText(row)}.`];
    }),
  ];
}

function defaultText({ default: fallback, manyHostsDefault, format }: Setting<unknown>): string {
  const onServer = manyHostsDefault === undefined ? '' : ` (${format(manyHostsDefault)} on PostgreSQL)`;
  return format(fallback) + onServer;
}

function retriesPage(): Block[] {
  const base = SETTINGS['backoff-base'].default;
  const delays = [1, 2, 3].map((attempts) => `${base ** attempts}s`).join(', ');
  return [
    'An attempt fails if its exit code is not 0, if a signal kills it, if it times out (exit code 124), or if the command cannot be started (126 or 127). It also fails, without an exit code, if a --secret-env variable is missing.',
    `--max-retries sets the maximum number of attempts, including the first (default: ${SETTINGS['max-retries'].default}). Both 0 and 1 mean one attempt.`,
    `After a failed attempt, the job is in the state failed and waits for its next attempt. The delay is backoff-base^attempts seconds: ${delays}, and so on. After the last attempt, the job is dead: it moves to the dead letter queue and is not retried automatically.`,
    { heading: 'Examples' },
    {
      code: [
        "queuectl enqueue --max-retries 5 --backoff-max 10m 'make report'",
        'queuectl dlq list',
        '# Retry a dead job, with its attempts counted from 0',
        'queuectl dlq retry job1',
      ],
    },
    { heading: 'Details' },
    'The maximum number of attempts is fixed when you enqueue the job. The delay is computed when an attempt fails, from the settings backoff-strategy, backoff-base, retry-delay, backoff-max and backoff-jitter. The flags --backoff, --backoff-base, --retry-delay, --backoff-max and --jitter override these settings for one job.',
    'An attempt that a worker stops, or that is lost in a crash, does not count towards this maximum. However, a job becomes dead when it has lost too many attempts in crashes (see the crash-limit setting).',
    'A job enqueued with --at-most-once starts only once. It becomes dead if its attempt fails, is stopped or is lost in a crash. You can retry it only by its id, because filters and --all skip it.',
  ];
}

function cronPage(): Block[] {
  return [
    'A cron expression has five fields: minute, hour, day of the month, month and weekday.',
    { heading: 'Examples' },
    [
      ['*/5 * * * *', 'every five minutes'],
      ['30 2 * * *', 'every day at 02:30'],
      ['0 9 * * mon-fri', 'at 09:00 from Monday to Friday'],
      ['0 0 1,15 * *', 'at midnight on the 1st and the 15th of each month'],
      ['0 6 * * mon#2', 'at 06:00 on the second Monday of each month'],
    ],
    { heading: 'Fields' },
    [
      ['minute', '0-59'],
      ['hour', '0-23'],
      ['day of the month', '1-31, or L for the last day'],
      ['month', '1-12 or jan-dec'],
      ['weekday', '0-7 or sun-sat; 0 and 7 are Sunday'],
    ],
    { heading: 'Syntax' },
    [
      ['*', 'every value'],
      ['1,15', 'a list of values'],
      ['1-5', 'a range'],
      ['*/5', 'every fifth value'],
      ['0-30/10', 'every tenth value of a range'],
      ['mon#2', 'the second Monday of the month'],
      ['5L', 'the last Friday of the month'],
      ['@hourly, @daily, @weekly, @monthly, @yearly', 'at the start of each hour, day, week, month or year'],
    ],
    { heading: 'Details' },
    'If you give both a day of the month and a weekday, the schedule runs on days that match either of them. Times are in the time zone of the machine, unless you use --tz.',
    'When the clocks go forward, a run in the skipped hour starts later, for example at 03:30 instead of 02:30. When the clocks go back, a run in the repeated hour starts only once. Expressions that match every hour are not affected.',
    "Use 'queuectl schedule show NAME' to see the next five runs.",
  ];
}

const STATE_MEANINGS: Record<State, string> = {
  pending: 'the job is waiting to run',
  processing: 'the job is running',
  completed: 'the job exited with code 0',
  failed: 'the last attempt failed, and the job is waiting for a retry',
  dead: 'the job failed permanently and is in the dead letter queue',
  cancelled: 'the job was cancelled, by a user or because of a job in its --after list',
};

function filtersPage(): Block[] {
  const aliasText = new Map(
    STATES.map((state) => {
      const names = [...STATE_ALIASES].filter(([, meant]) => meant === state).map(([name]) => name);
      return [state, names.length === 0 ? '' : ` (alias: ${names.join(', ')})`];
    }),
  );
  return [
    'Filters select jobs for list, wait, cancel, retry, delete, edit, hold, release, suspend and continue. If you give several filters, a job must match all of them. Except for list, these commands take either ids or filters.',
    { heading: 'Examples' },
    {
      code: [
        'queuectl list --state failed,dead --queue mail',
        "queuectl retry --error 'connection refused' --dry-run",
        'queuectl delete --state completed --older-than 7d --yes',
        "queuectl list --where 'attempts>3,duration>=5m'",
      ],
    },
    { heading: 'Filters' },
    [
      ['--state S,…', 'jobs in one of these states (see States below)'],
      ['--waiting-for R,…', 'jobs that wait for one of these reasons (see Reasons below)'],
      ['--queue NAME', 'jobs in this queue'],
      ['--name NAME', 'jobs with this name'],
      ['--tag K=V', 'jobs with this tag; if repeated, jobs with all of these tags'],
      ['--older-than TIME', 'jobs enqueued at least this long ago, such as 90s, 2h or 7d'],
      ['--error TEXT', 'jobs whose last error contains this text (case-insensitive)'],
      ['--exit-code N', 'jobs whose last exit code is N'],
      [
        '--search TEXT',
        'jobs with this text in the id, name, command, tags or last error (case-insensitive; only among the newest 100,000 jobs)',
      ],
      [
        '--where COND,…',
        `jobs that match conditions such as 'attempts>3' or 'duration>=5m'; the fields are ${CONDITION_FIELDS.join(', ')}; the operators are = != < <= > >=`,
      ],
    ],
    { heading: 'States' },
    STATES.map((state): Row => [state, `${STATE_MEANINGS[state]}${aliasText.get(state) ?? ''}`]),
    { heading: 'Reasons' },
    'A job that is not running and has not ended waits for the first of these reasons that applies to it:',
    WAITING_REASONS.map((reason): Row => [reason, REASON_MEANINGS[reason]]),
    { heading: 'Details' },
    'If filters match more than one job, a command that changes jobs asks for confirmation on a terminal, and requires --yes elsewhere. With --dry-run, it shows the jobs and changes nothing.',
    'You can shorten an id to a unique prefix. @last refers to the most recently enqueued job.',
  ];
}
