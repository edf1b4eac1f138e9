/** A row of the error table: exit code, HTTP status and default hint. The message is written where the error is thrown. */
interface ErrorRow {
  exit: number;
  status: number;
  hint: Hint;
}

type Hint = string | null;

/* Most error codes use one of these kinds. A code with another exit code or status has a row of its own. */
const failure = (hint: Hint = null): ErrorRow => ({ exit: 1, status: 500, hint });
const usage = (hint: Hint = null): ErrorRow => ({ exit: 2, status: 400, hint });
const notFound = (hint: Hint = null): ErrorRow => ({ exit: 3, status: 404, hint });
const conflict = (hint: Hint = null): ErrorRow => ({ exit: 4, status: 409, hint });
const unavailable = (hint: Hint = null): ErrorRow => ({ exit: 5, status: 503, hint });
const unauthorized = (hint: Hint = null): ErrorRow => ({ exit: 6, status: 401, hint });
const forbidden = (hint: Hint = null): ErrorRow => ({ exit: 6, status: 403, hint });
const tooMany = (hint: Hint = null): ErrorRow => ({ exit: 6, status: 429, hint });

/** Every error code, with its exit code, HTTP status and default hint. */
export const ERRORS = {
  usage: usage(),
  'unknown-command': usage('to list all commands: queuectl help'),
  'unknown-flag': usage(),
  'unknown-setting': usage('to list the settings: queuectl config list'),
  'invalid-value': usage(),
  'invalid-duration': usage('use a number with a unit, such as 500ms, 30s, 5m, 2h, 1d or 1h30m'),
  'invalid-time': usage(
    "use a time such as 2030-01-31T09:00 (local time), 2030-01-31T09:00Z, 23:30, 2pm, 'tomorrow 09:00', 'friday 18:00', +10m, now or epoch seconds",
  ),
  'invalid-json': usage(
    "if this is a shell command that starts with { or [, use --command: queuectl enqueue --command '…'",
  ),
  'invalid-job': usage('for help: queuectl help enqueue'),
  'invalid-cron': usage(
    "use five fields (minute hour day month weekday), such as '*/5 * * * *', or a shorthand such as @daily",
  ),
  'no-such-file': usage(),
  'import-invalid': usage('use a file written by queuectl export'),
  'import-conflict': conflict('add --on-conflict skip, or import into an empty database'),
  'file-exists': conflict('choose another name, or add --force'),
  'needs-yes': usage('add --yes to confirm'),
  'job-not-found': notFound('to list the jobs: queuectl list'),
  'ambiguous-id': usage('type more characters of the id'),
  'attempt-not-found': notFound(),
  'job-exists': conflict('choose another id, or omit the id so that queuectl generates one'),
  'queue-not-found': notFound('to list the queues: queuectl queue list'),
  'key-reused': conflict('use a new idempotency key for a different job'),
  'schedule-not-found': notFound('to list the schedules: queuectl schedule list'),
  'schedule-exists': conflict('choose another name, or remove the existing schedule first'),
  'worker-not-found': notFound('to list the workers: queuectl worker list'),
  'wrong-state': conflict(),
  'store-busy': unavailable('wait a moment, then run the command again'),
  'store-unavailable': unavailable('check the path given by --db, QUEUECTL_DB or QUEUECTL_HOME'),
  'store-unreachable': unavailable('check that the server runs'),
  'two-names': unavailable('for details: queuectl doctor'),
  'not-a-database': unavailable('use --db with another file. This file was not changed'),
  'store-corrupt': unavailable('run queuectl db check, and then queuectl db repair or queuectl restore'),
  'newer-schema': unavailable(
    'upgrade queuectl to at least the version that created or upgraded this database',
  ),
  'older-schema': unavailable('to upgrade the database: queuectl db migrate'),
  'old-sqlite': unavailable('run the queuectl executable, or a Node version with a newer SQLite'),
  'port-taken': failure(),
  'no-token': unauthorized("send the store's token as Authorization: Bearer …"),
  'server-restarted': unauthorized("log in again with the store's token"),
  'session-ended': unauthorized("log in again with the store's token"),
  'too-many-tries': tooMany('wait, then send the correct token'),
  'not-allowed': forbidden(),
  'read-only': forbidden('use the full-access token, on a server without --read-only'),
  'wrong-host': { exit: 2, status: 421, hint: null },
  'invalid-request': usage(),
  'unknown-coding': usage(),
  'no-such-route': notFound('to list the paths: GET /api/v1/openapi.json'),
  'wrong-method': { exit: 2, status: 405, hint: 'to list the allowed methods: GET /api/v1/openapi.json' },
  'too-large': { exit: 2, status: 413, hint: null },
  'too-slow': { exit: 2, status: 408, hint: null },
  'unsupported-type': { exit: 2, status: 415, hint: null },
  'too-many-streams': unavailable('close some event streams, then try again'),
  'too-many-changes': tooMany('raise the limit with queuectl serve --max-rate N'),
  'too-many-operations': tooMany('wait for a bulk action to finish, or stop one'),
  'operation-not-found': notFound(),
  'disk-full': { exit: 5, status: 507, hint: 'free some disk space, then run the command again' },
  'not-permitted': forbidden('check who owns the database and its directory'),
  'unsupported-platform': { exit: 1, status: 501, hint: null },
  'worker-failed': failure(),
  timeout: { exit: 1, status: 504, hint: null },
  'output-failed': failure(),
  'editor-failed': failure(),
  internal: failure('run the command again with QUEUECTL_DEBUG=1 to see the stack trace'),
} satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** Commands that return the exit code of a job return this code if there is none, for example after an error. */
export const NO_RESULT_CODE = 125;
/** The exit code of a command that reached its own timeout while it waited for a job. */
export const WAIT_TIMEOUT_CODE = 124;

interface QueueErrorOptions extends ErrorOptions {
  retryAfterS?: number;
}

export class QueueError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | null;
  /** The number of seconds after which the same request may succeed. Null if that is unknown. */
  readonly retryAfterS: number | null;

  constructor(code: ErrorCode, message: string, hint?: string, options?: QueueErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = hint ?? ERRORS[code].hint;
    this.retryAfterS = options?.retryAfterS ?? null;
  }

  get exitCode(): number {
    return ERRORS[this.code].exit;
  }

  // Bundling renames classes. The name is set on the prototype, because a stack trace is made before the constructor could set it.
  static {
    Object.defineProperty(QueueError, 'name', { value: 'QueueError' });
    Object.defineProperty(QueueError.prototype, 'name', { value: 'QueueError' });
  }
}

/** Returns the error for a command line that the command does not take. */
export function usageError(message: string, hint?: string): QueueError {
  return new QueueError('usage', message, hint);
}

export function invalidValue(message: string, hint?: string): QueueError {
  return new QueueError('invalid-value', message, hint);
}

/** Returns the error as the JSON object that the command line prints. */
export function errorObject(error: QueueError): {
  error: { code: string; message: string; hint: string | null };
} {
  return { error: { code: error.code, message: error.message, hint: error.hint } };
}
