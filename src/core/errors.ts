/** A row of the error table: exit code, HTTP status and default hint. The message is written where the error is thrown. */
interface ErrorRow {
  exit: number;
  status: number;
  hint: string | null;
}

const usage = (hint: string | null): ErrorRow => ({ exit: 2, status: 400, hint });

export const ERRORS = {
  usage: usage('queuectl help'),
  'unknown-command': usage('queuectl help'),
  'unknown-flag': usage(null),
  'unknown-setting': usage('queuectl config list'),
  'invalid-value': usage(null),
  'invalid-duration': usage('use a number with a unit, such as 500ms, 30s, 5m, 2h, 1d or 1h30m'),
  'invalid-time': usage(
    "use a time such as 2030-01-31T09:00 (local time), 2030-01-31T09:00Z, 23:30, 'tomorrow 9am', 'friday 18:00' or +10m",
  ),
  'invalid-json': usage(
    "if this is a shell command that starts like JSON, use: queuectl enqueue --command '…'",
  ),
  'invalid-job': usage('queuectl help enqueue'),
  'invalid-cron': usage(
    "use five fields (minute hour day month weekday), such as '*/5 * * * *', or a shorthand such as @daily",
  ),
  'no-such-file': usage(null),
  'import-invalid': usage('use a file written by queuectl export'),
  'import-conflict': { exit: 4, status: 409, hint: 'add --on-conflict skip, or import into an empty store' },
  'file-exists': { exit: 4, status: 409, hint: 'choose another name, or add --force' },
  'needs-yes': usage('add --yes'),
  'job-not-found': { exit: 3, status: 404, hint: 'queuectl list' },
  'ambiguous-id': usage('type more characters of the id'),
  'attempt-not-found': { exit: 3, status: 404, hint: null },
  'job-exists': { exit: 4, status: 409, hint: 'choose another id, or omit it to get a generated one' },
  'queue-not-found': { exit: 3, status: 404, hint: 'queuectl queue list' },
  'key-reused': { exit: 4, status: 409, hint: 'use a new idempotency key for a different job' },
  'schedule-not-found': { exit: 3, status: 404, hint: 'queuectl schedule list' },
  'schedule-exists': {
    exit: 4,
    status: 409,
    hint: 'choose another name, or remove the existing schedule first',
  },
  'worker-not-found': { exit: 3, status: 404, hint: 'queuectl worker list' },
  'wrong-state': { exit: 4, status: 409, hint: null },
  'store-busy': { exit: 5, status: 503, hint: 'wait a moment, then run the command again' },
  'store-unavailable': {
    exit: 5,
    status: 503,
    hint: 'check the path given by --db, QUEUECTL_DB or QUEUECTL_HOME',
  },
  'store-files-removed': {
    exit: 5,
    status: 503,
    hint: 'run the command again. Do not remove the -wal and -shm files: they are part of the database while it is in use',
  },
  'two-names': { exit: 5, status: 503, hint: 'queuectl doctor' },
  'not-a-database': { exit: 5, status: 503, hint: 'point --db at another file; this one was not changed' },
  'store-corrupt': {
    exit: 5,
    status: 503,
    hint: 'queuectl db check, then queuectl db repair or queuectl restore',
  },
  'newer-schema': { exit: 5, status: 503, hint: 'upgrade queuectl to the version that wrote the store' },
  'older-schema': { exit: 5, status: 503, hint: 'queuectl db migrate, or queuectl worker start' },
  'old-sqlite': {
    exit: 5,
    status: 503,
    hint: 'run the queuectl executable, or a Node version with a newer SQLite',
  },
  'port-taken': { exit: 1, status: 500, hint: null },
  'no-token': { exit: 6, status: 401, hint: "send the store's token as Authorization: Bearer …" },
  'server-restarted': { exit: 6, status: 401, hint: "log in again with the store's token" },
  'session-ended': { exit: 6, status: 401, hint: "log in again with the store's token" },
  'too-many-tries': { exit: 6, status: 429, hint: 'wait, then send the correct token' },
  'not-allowed': { exit: 6, status: 403, hint: null },
  'read-only': { exit: 6, status: 403, hint: 'use the full-access token, on a server without --read-only' },
  'wrong-host': { exit: 2, status: 421, hint: null },
  'invalid-request': usage(null),
  'unknown-coding': usage(null),
  'no-such-route': { exit: 3, status: 404, hint: 'GET /api/v1/openapi.json' },
  'wrong-method': { exit: 2, status: 405, hint: 'GET /api/v1/openapi.json' },
  'too-large': { exit: 2, status: 413, hint: null },
  'too-slow': { exit: 2, status: 408, hint: null },
  'unsupported-type': { exit: 2, status: 415, hint: null },
  'too-many-streams': { exit: 5, status: 503, hint: 'close some of them, then try again' },
  'too-many-changes': { exit: 6, status: 429, hint: 'raise the limit with queuectl serve --max-rate N' },
  'too-many-operations': { exit: 6, status: 429, hint: 'wait for one to finish, or stop one' },
  'operation-not-found': { exit: 3, status: 404, hint: null },
  'disk-full': { exit: 5, status: 507, hint: 'free some disk space, then run the command again' },
  'not-permitted': { exit: 6, status: 403, hint: 'check who owns the database and its directory' },
  'unsupported-platform': { exit: 1, status: 501, hint: null },
  'worker-failed': { exit: 1, status: 500, hint: null },
  timeout: { exit: 1, status: 504, hint: null },
  'output-failed': { exit: 1, status: 500, hint: null },
  'editor-failed': { exit: 1, status: 500, hint: null },
  internal: {
    exit: 1,
    status: 500,
    hint: 'run the command again with QUEUECTL_DEBUG=1 to see the stack trace',
  },
} satisfies Record<string, ErrorRow>;

/** The exit code for errors of commands that otherwise exit with the code of a job. A job may have any of the codes above. */
export const NO_ANSWER_CODE = 125;
/** The exit code of a command that waited for a job longer than it was allowed to. */
export const WAIT_TIMEOUT_CODE = 124;

/** The meaning of each exit code. */
export const EXIT_CODES: Record<number, string> = {
  0: 'success',
  1: 'failure',
  2: 'incorrect usage',
  3: 'not found',
  4: 'conflict or wrong state',
  5: 'database busy or unavailable',
  6: 'not permitted',
  7: 'only some of the jobs could be changed',
};

export type ErrorCode = keyof typeof ERRORS;

interface QueueErrorOptions extends ErrorOptions {
  retryAfterS?: number;
}

export class QueueError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | null;
  /** After how many seconds the same request may succeed. Null if that is unknown. */
  readonly retryAfterS: number | null;

  constructor(code: ErrorCode, message: string, hint?: string, options?: QueueErrorOptions) {
    super(message, options);
    // The name is set by hand, because minifying changes class names.
    this.name = 'QueueError';
    this.code = code;
    this.hint = hint ?? ERRORS[code].hint;
    this.retryAfterS = options?.retryAfterS ?? null;
  }

  get exitCode(): number {
    return ERRORS[this.code].exit;
  }
}

/** Returns the error as the JSON object that the command line prints. */
export function errorObject(error: QueueError): {
  error: { code: string; message: string; hint: string | null };
} {
  return { error: { code: error.code, message: error.message, hint: error.hint } };
}
