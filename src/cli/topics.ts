import { ERRORS, EXIT_CODES, NO_ANSWER_CODE, WAIT_TIMEOUT_CODE } from '../core/errors.ts';
import { CONDITION_FIELDS } from '../core/filter.ts';
import { STATE_ALIASES, STATES } from '../core/job.ts';
import { SETTING_KEYS, SETTINGS, type Setting } from '../core/settings.ts';

/** What `queuectl help TOPIC` prints; from the tables where there is one. */
export const TOPICS: Record<string, () => string> = {
  'exit-codes': exitCodes,
  environment,
  formatting,
  config,
  retries,
  cron,
  filters,
};

function exitCodes(): string {
  const rows = Object.entries(EXIT_CODES).map(([code, meaning]) => {
    const errors = Object.entries(ERRORS).filter(([, row]) => row.exit === Number(code));
    const names = errors.map(([name]) => name).join(', ');
    return `  ${code}  ${meaning}${names === '' ? '' : wrapped(names)}`;
  });
  return `Exit codes, each with the errors that end so (the "code" of an error printed with --json):

${rows.join('\n')}

run, wait and enqueue --wait answer for their job: its own exit code, 128+n for a signal, 130 when it was cancelled,
${WAIT_TIMEOUT_CODE} when the wait timed out, ${NO_ANSWER_CODE} when queuectl itself failed; of several jobs the first that is not 0.`;
}

function wrapped(names: string): string {
  let column = 0;
  const words = names.split(' ').map((word) => {
    column += word.length + 1;
    if (column < 72) return word;
    column = word.length + 1;
    return `\n       ${word}`;
  });
  return `\n       ${words.join(' ').replaceAll(' \n', '\n')}`;
}

function environment(): string {
  return `Read by queuectl:

  QUEUECTL_DB       the database file, unless --db is given (also: QUEUECTL_DB_PATH)
  QUEUECTL_HOME     the directory of queue.db, unless one of these is given (~/.queuectl)
  QUEUECTL_DEBUG    1: an error is followed by where it happened
  NO_COLOR          not empty: no colours
  FORCE_COLOR       not empty: colours in a pipe too (also: CLICOLOR_FORCE)
  TERM              dumb: no colours
  TZ                the local time zone, a name such as Europe/Berlin (else: that of the machine)
  LC_ALL            the locale (else: LC_CTYPE, LANG); without UTF-8 in it, top draws in ASCII
  COLUMNS           the width of the terminal, where it cannot be asked (LINES: its height)
  CI                not empty: no questions, even on a terminal (also: QUEUECTL_NO_INPUT)
  VISUAL            the editor that edit ID opens (else: EDITOR)
  USER              who paused a queue, in its list (else: LOGNAME)
  QUEUECTL_HOOK_EVENT  set in a hook: what it enqueues triggers no hooks
  QUEUECTL_ANY_OWNER  1: use a store that belongs to another user, or that others can write
  QUEUECTL_CRASH_AT for tests: name:nth, the process kills itself at the nth passing of that point (after-claim:2);
                    with :stop, :throw or :block behind it, it stops, fails or stands still there instead.
                    Neither jobs nor the replacement of a worker see it
  TMPDIR            where standard input is kept while enqueue --file reads it (/tmp), and where a database is copied
                    to be read if other users could put files beside it

Set for a job, besides the worker's environment and the job's own variables:

  QUEUECTL_JOB_ID   its id
  QUEUECTL_ATTEMPT  which execution this is, from 1
  QUEUECTL_FENCE    a number that rises with every claim: a later attempt has a higher one
  QUEUECTL_QUEUE    its queue
  QUEUECTL_RUN      identifies this attempt; queuectl finds its processes by it
  QUEUECTL_SCHEDULE      the schedule that enqueued it, if one did
  QUEUECTL_SCHEDULED_AT  the time it was due by that schedule
  QUEUECTL_HOOK_EVENT, QUEUECTL_HOOK_JOB_ID, QUEUECTL_HOOK_STATE, QUEUECTL_HOOK_EXIT_CODE, QUEUECTL_HOOK_ERROR,
  QUEUECTL_HOOK_QUEUE, QUEUECTL_HOOK_ATTEMPTS   in a hook: what happened, and to which job`;
}

function formatting(): string {
  return `stdout carries the result and nothing else; notes, progress and warnings go to stderr.

  On a terminal   aligned columns as wide as it is, colours, times such as "3m ago"
  In a pipe       the same columns, separated by tabs, whole, without a header; ISO times
  --json          one JSON document; a list is an array with every match; an error is
                  {"error":{"code","message","hint"}} on stderr
  --json=id,state only these fields of each object; --json=help names those there are
  --quiet         ids only where there is a list or jobs are added; no notes and warnings
  --color WHEN    auto (a terminal, unless NO_COLOR), always or never

Lists (list, dlq list, queue list, schedule list, worker list, config list, events) also take:

  --format table|tsv|csv|json|jsonl|ids
                  table: aligned, in a pipe too; tsv and csv: whole, a tab or line break in a cell as \\t or \\n;
                  jsonl: an object a line; ids: what --quiet prints
  --format TEXT   a line for each, with its fields in braces: '{id}\\t{state}'; \\t and \\n are a tab and a line break
  --header        with tsv and csv: the titles of the columns first
  --wide          cut nothing and leave out no column, however narrow the terminal (also: --no-trunc)

and these, as show, schedule show and status do:

  --time STYLE    iso, relative ("3m ago"), local (2026-01-31 09:00:00, in the zone of the machine) or unix (seconds)
  --utc           the same as --time local, but in UTC (2026-01-31 08:00:00Z)

What contradicts itself is refused: --json with --format, --quiet with any but ids, --time with JSON or ids.

Unless told otherwise, times are ISO 8601 in UTC with milliseconds; durations in JSON are whole milliseconds, and their
names end in _ms. Control characters of a job are shown as \\x1b and the like, never obeyed.`;
}

function config(): string {
  const rows = SETTING_KEYS.map((key) => {
    const row = SETTINGS[key] as Setting<unknown>;
    return `  ${key}\n      ${row.help}\n      ${row.range}; default ${row.format(row.default)}`;
  });
  return `Settings live in the store, so that all workers agree; running ones follow within a heartbeat. A flag or a field of the
job goes before the setting, the setting before the default. max-retries, max_retries and maxRetries are one key.

${rows.join('\n')}`;
}

function retries(): string {
  const base = SETTINGS['backoff-base'].default;
  const waits = [1, 2, 3].map((attempts) => `${base ** attempts} s`).join(', ');
  return `An attempt fails with any exit code but 0, by a signal, by its timeout (124) or when it cannot start (126, 127).

  max_retries is the number of executions in all (${SETTINGS['max-retries'].default}); 0 and 1 both mean one.
  Until then the job is failed and waits backoff-base^attempts seconds: ${waits}, …
  After the last it is dead: queuectl dlq list; queuectl dlq retry ID makes it pending again, attempts 0.

max_retries is fixed when a job is enqueued; the backoff is read when it fails, what the job says itself first
(backoff, backoff_base, retry_delay, backoff_max, jitter). The settings are backoff-strategy, backoff-base, retry-delay,
backoff-max and backoff-jitter (queuectl help config). An attempt that was stopped, or lost together with its worker, is
not charged; lost crash-limit times, the job is dead.

A job enqueued with --at-most-once is started only once: a failed, stopped or lost attempt makes it dead. Only a retry
by id starts it again; filters and --all skip it.`;
}

function cron(): string {
  return `An expression has five fields: minute, hour, day of the month, month, day of the week.

  minute 0-59, hour 0-23, day 1-31, month 1-12 or jan-dec, weekday 0-7 or sun-sat (0 and 7 are Sunday)
  *        every one              */5      every fifth           1-5      from the first to the last
  1,15     each of them           0-30/10  every tenth of these  L        the last day of the month
  mon#2    the second Monday      5L       the last Friday
  @hourly @daily @weekly @monthly @yearly  at its beginning

  */5 * * * *       every five minutes
  30 2 * * *        at half past two, every day
  0 9 * * mon-fri   at nine, on working days
  0 0 1,15 * *      at midnight, on the first and the fifteenth

With a day of the month and a weekday, a day that is either counts. The zone is that of the machine, or --tz. Where the
clocks change, a time that is skipped comes once, as much later as the clock jumps, and one that comes twice is meant
the first time; an expression for every hour goes on evenly. queuectl schedule show NAME tells the next five times.`;
}

function filters(): string {
  const aliases = [...STATE_ALIASES].map(([alias, state]) => `${alias} (${state})`).join(', ');
  return `Filters choose jobs for list, wait and the verbs that act: cancel, retry, delete, edit, hold, release, suspend,
continue. All that are given must hold; an action takes ids or filters, not both.

  --state S,…         ${STATES.join(', ')}; or
                      ${aliases}
  --queue NAME        of this queue
  --name NAME         of this name
  --tag K=V           with this tag; several: with each of them
  --older-than TIME   enqueued at least so long ago: 90s, 2h, 7d
  --error TEXT        the last error contains this, in any case; nothing in it is special
  --exit-code N       the last exit code is this
  --search TEXT       part of the id, name, command, tags or last error, in any case; the newest 100,000 jobs
  --where COND,…      conditions on ${CONDITION_FIELDS.join(', ')}
                      with = != < <= > >=, such as 'attempts>3' or 'duration>=5m'

More than one job by filter: an action asks on a terminal, and needs --yes elsewhere; --dry-run shows them and changes
nothing. An id may be shortened to a beginning that no other id has; @last is the job enqueued last.`;
}
