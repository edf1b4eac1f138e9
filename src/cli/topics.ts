import { ERRORS, EXIT_CODES, NO_ANSWER_CODE, WAIT_TIMEOUT_CODE } from '../core/errors.ts';
import { SETTING_KEYS, SETTINGS, type Setting } from '../core/settings.ts';

/** What `queuectl help TOPIC` prints; from the tables where there is one. */
export const TOPICS: Record<string, () => string> = {
  'exit-codes': exitCodes,
  environment,
  formatting,
  config,
  retries,
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
  COLUMNS           the width of the terminal, where it cannot be asked (LINES: its height)
  CI                not empty: no questions, even on a terminal (also: QUEUECTL_NO_INPUT)
  VISUAL            the editor that edit ID opens (else: EDITOR)
  USER              who paused a queue, in its list (else: LOGNAME)
  QUEUECTL_HOOK_EVENT  set in a hook: what it enqueues triggers no hooks
  QUEUECTL_CRASH_AT for tests: name:nth, the process kills itself at the nth passing of that point (after-claim:2);
                    with :stop, :throw or :block behind it, it stops, fails or stands still there instead.
                    Neither jobs nor the replacement of a worker see it
  TMPDIR            where standard input is kept while enqueue --file reads it (/tmp)

Set for a job, besides the worker's environment and the job's own variables:

  QUEUECTL_JOB_ID   its id
  QUEUECTL_ATTEMPT  which execution this is, from 1
  QUEUECTL_FENCE    a number that rises with every claim: a later attempt has a higher one
  QUEUECTL_QUEUE    its queue
  QUEUECTL_RUN      the name of this attempt; queuectl finds its processes by it
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
  --quiet         ids only where jobs are listed or added; no notes and warnings
  --color WHEN    auto (a terminal, unless NO_COLOR), always or never

Times are ISO 8601 in UTC with milliseconds; durations in JSON are whole milliseconds, their names end in _ms. Control
characters of a job are shown as \\x1b and the like, never obeyed.`;
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

max_retries is fixed when a job is enqueued; the backoff is read when it fails, a job's own backoff_base first. Also to
set: backoff-strategy, backoff-max, backoff-jitter, retry-delay (queuectl help config). An attempt that was stopped, or
lost together with its worker, is not charged; lost crash-limit times, the job is dead.`;
}
