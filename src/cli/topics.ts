import { ERRORS, EXIT_CODES, NO_ANSWER_CODE, WAIT_TIMEOUT_CODE } from '../core/errors.ts';
import { CONDITION_FIELDS } from '../core/filter.ts';
import { STATE_ALIASES, STATES } from '../core/job.ts';
import { nearest } from '../core/nearest.ts';
import { SETTING_KEYS, SETTINGS, type Setting } from '../core/settings.ts';
import type { Block, Row } from './help-page.ts';

export interface Topic {
  summary: string;
  page(): Block[];
}

/** The pages of `queuectl help TOPIC`. Tables are taken from the code where it has one. */
export const TOPICS: Record<string, Topic> = {
  retries: { summary: 'When a job is retried, and when it is dead', page: retries },
  filters: { summary: 'Select jobs by state, queue, age, error and more', page: filters },
  cron: { summary: 'Cron expressions, with examples', page: cron },
  hooks: { summary: 'Run a command when a job completes, fails or is dead', page: hooks },
  formatting: { summary: 'Tables, JSON, CSV, templates, times and colors', page: formatting },
  config: { summary: 'All settings with their values and defaults', page: config },
  environment: { summary: 'Environment variables', page: environment },
  'exit-codes': { summary: 'Exit codes of queuectl', page: exitCodes },
};

const SYNONYMS: Record<string, string> = { setting: 'config', settings: 'config', configuration: 'config' };

/** Returns the topic that a word probably means, or null. */
export function topicNamed(word: string): string | null {
  return SYNONYMS[word] ?? nearest(word, Object.keys(TOPICS));
}

function exitCodes(): Block[] {
  const rows = Object.entries(EXIT_CODES).map(([code, meaning]): Row => {
    const errors = Object.entries(ERRORS).filter(([, row]) => row.exit === Number(code));
    const names = errors.map(([name]) => name).join(', ');
    return [code, names === '' ? meaning : `${meaning}: ${names}`];
  });
  return [
    {
      text: 'Each exit code is listed with its errors. With --json, an error contains its name as "code".',
    },
    { heading: 'Exit codes' },
    { rows },
    { heading: 'run, wait and enqueue --wait' },
    {
      text: 'These commands exit with the exit code of the job. For several jobs, it is the first code that is not 0.',
    },
    {
      rows: [
        ['128+n', 'signal n ended the job'],
        ['130', 'the job was cancelled'],
        [String(WAIT_TIMEOUT_CODE), 'the job did not finish within the wait timeout'],
        [String(NO_ANSWER_CODE), 'queuectl itself failed'],
      ],
    },
  ];
}

function environment(): Block[] {
  return [
    { heading: 'Read by queuectl' },
    {
      rows: [
        ['QUEUECTL_DB', 'database file; --db overrides it (alias: QUEUECTL_DB_PATH)'],
        ['QUEUECTL_HOME', 'directory of queue.db if no database file is given (default: ~/.queuectl)'],
        ['QUEUECTL_DEBUG', '1: print a stack trace after an error'],
        ['QUEUECTL_PAGER', 'pager for help; empty or cat: none (default: PAGER, else less -FIRX)'],
        ['QUEUECTL_NO_INPUT', 'if set: never ask for confirmation (alias: CI)'],
        ['QUEUECTL_ANY_OWNER', '1: use a database that another user owns or can write to'],
        ['NO_COLOR', 'if set: no colors'],
        ['FORCE_COLOR', 'if set: colors even in a pipe; 0 turns colors off (alias: CLICOLOR_FORCE)'],
        ['TERM', 'dumb: no colors and no pager'],
        ['TZ', 'local time zone, such as Europe/Berlin (default: time zone of this machine)'],
        ['LC_ALL', 'locale (else LC_CTYPE, LANG); top uses ASCII characters if it is not UTF-8'],
        ['COLUMNS, LINES', 'size of the terminal if it cannot be detected'],
        ['VISUAL', 'editor for queuectl edit (else EDITOR)'],
        ['USER', 'name recorded for changes, such as pausing a queue (else LOGNAME)'],
        ['QUEUECTL_HOOK_EVENT', 'set in a hook; jobs enqueued by a hook trigger no hooks'],
        ['TMPDIR', 'directory for temporary copies of standard input or of a database (default: /tmp)'],
        [
          'QUEUECTL_CRASH_AT',
          'for tests: name:nth kills the process when it reaches this point for the nth time, as in after-claim:2. With :stop, :throw or :block appended, it stops, fails or blocks instead. Jobs and replacement workers do not inherit it.',
        ],
      ],
    },
    { heading: 'Set for each job' },
    {
      text: "A job gets the worker's environment, its own variables, and these:",
    },
    {
      rows: [
        ['QUEUECTL_JOB_ID', 'id of the job'],
        ['QUEUECTL_ATTEMPT', 'number of the attempt, starting at 1'],
        ['QUEUECTL_QUEUE', 'queue of the job'],
        ['QUEUECTL_FENCE', 'fencing token: a later attempt has a higher number'],
        ['QUEUECTL_RUN', 'identifies the attempt, so that queuectl can find its processes'],
        ['QUEUECTL_SCHEDULE', 'schedule that enqueued the job, if any'],
        ['QUEUECTL_SCHEDULED_AT', 'time for which the schedule enqueued the job'],
        ...HOOK_VARIABLES,
      ],
    },
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

function hooks(): Block[] {
  return [
    {
      text: 'A hook is a shell command that queuectl runs when a job completes, fails or is dead, or when the queue is idle. It runs as a job in the queue "hooks", which every worker serves.',
    },
    { heading: 'Examples' },
    {
      code: [
        '# For all jobs',
        'queuectl config set on-dead \'logger "job $QUEUECTL_HOOK_JOB_ID is dead"\'',
        '# For one job',
        "queuectl enqueue --on-complete './notify done' 'make report'",
        '# No hook for this job',
        "queuectl enqueue --on-dead none 'make report'",
      ],
    },
    { heading: 'Events' },
    {
      rows: [
        ['on-complete', 'The job has completed.'],
        [
          'on-failure',
          'An attempt failed. This includes the last attempt, after which on-dead follows. A cancelled or stopped attempt is not a failure.',
        ],
        ['on-dead', 'The job is in the dead letter queue.'],
        [
          'on-idle',
          'An attempt ended, and no job is ready, running or waiting for a retry. Jobs due later, held jobs and paused queues do not count. Setting only.',
        ],
      ],
    },
    { heading: 'Environment' },
    { rows: HOOK_VARIABLES.map(([name, text]): Row => [name, text.replace('in a hook: ', '')]) },
    { heading: 'Details' },
    {
      text: 'A hook from the settings runs in your home directory. A flag such as --on-dead overrides the setting for one job. Hooks, and the jobs they enqueue, trigger no hooks.',
    },
  ];
}

function formatting(): Block[] {
  return [
    { text: 'The result goes to stdout. Notes, warnings and progress go to stderr.' },
    { heading: 'Output' },
    {
      rows: [
        ['on a terminal', 'a table as wide as the terminal, with colors and times such as "3m ago"'],
        ['in a pipe', 'the same columns separated by tabs, without a header, with ISO 8601 times'],
        [
          '--json',
          'one JSON document (events: one per line); a list is an array of all matches, an error is {"error":{"code","message","hint"}} and a warning {"warning":{"message"}} on stderr. Help and the log of worker start are always text',
        ],
        ['--json=id,state', 'only these fields of each object; --json=help lists the fields'],
        ['--quiet', 'only ids for lists and new jobs, unless --json is given; no notes or warnings'],
        ['--color WHEN', 'auto (on a terminal, unless NO_COLOR is set), always or never'],
      ],
    },
    { heading: 'Lists' },
    {
      text: 'These flags work with list, dlq list, queue list, schedule list, worker list, config list and events.',
    },
    {
      rows: [
        ['--format table', 'aligned columns, in a pipe too'],
        ['--format tsv, csv', 'full values; a tab or line break in a value is written as \\t or \\n'],
        ['--format json, jsonl', 'a JSON array, or one JSON object per line; events are always lines'],
        ['--format ids', 'the same as --quiet'],
        [
          '--format TEXT',
          "a template with fields in braces for each line, such as '{id}\\t{state}' for jobs; \\t is a tab, \\n a line break",
        ],
        ['--header', 'print column titles first, with tsv and csv'],
        ['--wide', 'show all columns in full, even on a narrow terminal (alias: --no-trunc)'],
      ],
    },
    { heading: 'Times' },
    { text: 'These flags work with all lists and with show, dlq show, schedule show and status.' },
    {
      rows: [
        ['--time iso', '2026-01-31T08:00:00.000Z'],
        ['--time relative', '3m ago'],
        ['--time local', '2026-01-31 09:00:00, in the local time zone'],
        ['--time unix', 'seconds since 1970'],
        ['--utc', 'like --time local, but in UTC: 2026-01-31 08:00:00Z'],
      ],
    },
    { heading: 'Details' },
    {
      text: 'Flags that contradict each other are refused: --json with --format, --quiet with --format other than ids, --time with JSON or ids.',
    },
    {
      text: 'Times in JSON are ISO 8601 in UTC with milliseconds. Durations in JSON are whole milliseconds, in fields that end in _ms. On a terminal, control characters are shown as escapes such as \\x1b.',
    },
  ];
}

function config(): Block[] {
  return [
    { heading: 'Settings' },
    {
      text: 'Settings are stored in the database and shared by all workers. Running workers apply a change within one heartbeat. A flag or a job field overrides a setting. The names max-retries, max_retries and maxRetries are equivalent.',
    },
    {
      rows: SETTING_KEYS.map((key): Row => {
        const row = SETTINGS[key] as Setting<unknown>;
        return [key, `${row.help}. Value: ${row.range}. Default: ${row.format(row.default)}`];
      }),
    },
  ];
}

function retries(): Block[] {
  const base = SETTINGS['backoff-base'].default;
  const delays = [1, 2, 3].map((attempts) => `${base ** attempts}s`).join(', ');
  return [
    {
      text: 'An attempt fails if the exit code is not 0, a signal kills it, it times out (exit code 124), the command cannot start (126 or 127), or a --secret-env variable is missing (no exit code).',
    },
    {
      text: `max_retries is the maximum number of attempts, including the first (default: ${SETTINGS['max-retries'].default}). 0 and 1 both mean one attempt.`,
    },
    {
      text: `After a failed attempt, the job is failed and waits for backoff-base^attempts seconds: ${delays}, and so on. After the last attempt it is dead.`,
    },
    { heading: 'Examples' },
    {
      code: [
        "queuectl enqueue --max-retries 5 --backoff-max 10m 'make report'",
        'queuectl dlq list',
        '# Try a dead job again, with 0 attempts counted',
        'queuectl dlq retry job1',
      ],
    },
    { heading: 'Details' },
    {
      text: "max_retries is fixed when the job is enqueued. The backoff is read when an attempt fails: the job's own values (backoff, backoff_base, retry_delay, backoff_max, jitter) override the settings backoff-strategy, backoff-base, retry-delay, backoff-max and backoff-jitter.",
    },
    {
      text: 'An attempt that was stopped or lost in a crash does not count. After crash-limit lost attempts, the job is dead.',
    },
    {
      text: 'A job enqueued with --at-most-once is started only once. A failed, stopped or lost attempt makes it dead. Only retrying it by id starts it again; filters and --all skip it.',
    },
  ];
}

function cron(): Block[] {
  return [
    { text: 'A cron expression has five fields: minute, hour, day of the month, month and weekday.' },
    { heading: 'Examples' },
    {
      rows: [
        ['*/5 * * * *', 'every five minutes'],
        ['30 2 * * *', 'every day at 02:30'],
        ['0 9 * * mon-fri', 'at 09:00 from Monday to Friday'],
        ['0 0 1,15 * *', 'at midnight on the 1st and the 15th of each month'],
        ['0 6 * * mon#2', 'at 06:00 on the second Monday of each month'],
      ],
    },
    { heading: 'Fields' },
    {
      rows: [
        ['minute', '0-59'],
        ['hour', '0-23'],
        ['day of the month', '1-31, or L for the last day'],
        ['month', '1-12 or jan-dec'],
        ['weekday', '0-7 or sun-sat; 0 and 7 are Sunday'],
      ],
    },
    { heading: 'Syntax' },
    {
      rows: [
        ['*', 'every value'],
        ['1,15', 'a list of values'],
        ['1-5', 'a range'],
        ['*/5', 'every fifth value'],
        ['0-30/10', 'every tenth value of a range'],
        ['mon#2', 'the second Monday of the month'],
        ['5L', 'the last Friday of the month'],
        [
          '@hourly, @daily, @weekly, @monthly, @yearly',
          'at the start of each hour, day, week, month or year',
        ],
      ],
    },
    { heading: 'Details' },
    {
      text: 'If both a day of the month and a weekday are given, a day that matches either one counts. The time zone is that of the machine, or --tz.',
    },
    {
      text: 'When clocks go forward, a run in the skipped hour starts later by the length of the jump. When clocks go back, a run in the repeated hour starts only the first time. Expressions that match every hour keep running every hour.',
    },
    { text: "Use 'queuectl schedule show NAME' to see the next five runs." },
  ];
}

function filters(): Block[] {
  const aliases = [...STATE_ALIASES].map(([alias, state]) => `${alias} (${state})`).join(', ');
  return [
    {
      text: 'Filters select jobs for list, wait, cancel, retry, delete, edit, hold, release, suspend and continue. A job must match all of them. An action takes either ids or filters.',
    },
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
    {
      rows: [
        ['--state S,…', `${STATES.join(', ')}; also ${aliases}`],
        ['--queue NAME', 'jobs in this queue'],
        ['--name NAME', 'jobs with this name'],
        ['--tag K=V', 'jobs with this tag; if repeated, with all of them'],
        ['--older-than TIME', 'jobs enqueued at least this long ago, such as 90s, 2h or 7d'],
        ['--error TEXT', 'jobs whose last error contains this text; case is ignored'],
        ['--exit-code N', 'jobs with this last exit code'],
        [
          '--search TEXT',
          'jobs with this text in the id, name, command, tags or last error; case is ignored; searches the newest 100,000 jobs',
        ],
        [
          '--where COND,…',
          `conditions on ${CONDITION_FIELDS.join(', ')} with = != < <= > >=, such as 'attempts>3' or 'duration>=5m'`,
        ],
      ],
    },
    { heading: 'Details' },
    {
      text: 'If a filter selects more than one job, an action asks for confirmation on a terminal and requires --yes elsewhere. --dry-run shows the jobs and changes nothing.',
    },
    {
      text: 'You can shorten an id to any unique prefix. @last is the most recently enqueued job.',
    },
  ];
}
