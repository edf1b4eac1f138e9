import { type ErrorCode, QueueError } from '../../../core/errors.ts';
import { shellWord } from '../../../core/text/shell-quote.ts';
import { type PostgresLocation, quoteName } from './location.ts';
import { ignoredPasswordFile } from './password-file.ts';

type Explanation = [code: ErrorCode, what: string, hint: string];

const IN_THE_WAY = (name: string): Explanation => [
  'store-busy',
  `other processes change the same jobs of ${name}`,
  'wait a moment, then run the command again',
];

/** The SQLSTATE with which the SQL of a new schema fails if another role owns the schema. */
export const FOREIGN_OWNER = 'QC001';

/** The errors of PostgreSQL that users can meet, by SQLSTATE. `where` names the server. */
const BY_STATE: Record<string, (location: PostgresLocation, where: string) => Explanation> = {
  '28P01': (location, where) => {
    const file = ignoredPasswordFile(location);
    return [
      'store-unavailable',
      `${where} refused the password of the role '${location.user}'${file === null ? '' : `. The password file ${file} was ignored, because other users can access it`}`,
      file === null
        ? 'set PGPASSWORD, or add a line to ~/.pgpass: HOST:PORT:DATABASE:USER:PASSWORD'
        : `to use the file: chmod 600 ${shellWord(file)}`,
    ];
  },
  '28000': ({ user }, where) => [
    'store-unavailable',
    `${where} does not let the role '${user}' connect`,
    'check the role in the URL, and pg_hba.conf of the server',
  ],
  '3D000': ({ database }, where) => [
    'store-unavailable',
    `${where} has no database '${database}'`,
    `create it (createdb ${shellWord(database)}), or use another database in the URL`,
  ],
  '3F000': ({ schema, database }) => [
    'store-unavailable',
    `the database '${database}' has no schema '${schema}'`,
    'check ?schema= in the URL',
  ],
  '42P01': ({ name }) => [
    'store-unavailable',
    `${name} was removed or is incomplete`,
    'check ?schema= in the URL. To create a new queue there, drop the schema first',
  ],
  '42501': ({ user, schema }) => [
    'store-unavailable',
    `the role '${user}' may not do this in the schema '${schema}'`,
    'let an administrator run the output of queuectl db migrate --sql, or use another role',
  ],
  [FOREIGN_OWNER]: ({ user, schema }) => [
    'not-permitted',
    `the schema '${schema}' belongs to another role, which could replace the tables of the queue`,
    `let an administrator run ALTER SCHEMA ${quoteName(schema)} OWNER TO ${quoteName(user)}, or use another schema: ?schema=NAME`,
  ],
  '25006': (_, where) => [
    'store-unavailable',
    `${where} is read-only`,
    'connect to the primary server, or set default_transaction_read_only = off',
  ],
  '53300': (_, where) => [
    'store-unreachable',
    `${where} has no connection left`,
    'raise max_connections of the server, or use a pooler such as PgBouncer',
  ],
  '53100': (_, where) => ['disk-full', `the disk of ${where} is full`, 'free some disk space on the server'],
  '57P03': (_, where) => [
    'store-unreachable',
    `${where} is starting or stopping`,
    'wait a moment, then run the command again',
  ],
  '57014': ({ name }) => [
    'store-busy',
    `${name} is locked by another process`,
    'wait a moment, then run the command again',
  ],
  '55P03': ({ name }) => [
    'store-busy',
    `${name} is locked by another process`,
    'wait a moment, then run the command again',
  ],
  // Another statement of the same transaction has failed. Its error may arrive later.
  '25P02': (_, where) => ['store-unreachable', `${where} has aborted a transaction`, 'run the command again'],
  '40001': ({ name }) => IN_THE_WAY(name),
  '40P01': ({ name }) => IN_THE_WAY(name),
  '26000': (_, where) => [
    'store-unavailable',
    `a pooler before ${where} does not keep prepared statements`,
    'add prepared=off to the URL',
  ],
  '42P05': (_, where) => [
    'store-unavailable',
    `a pooler before ${where} mixes up prepared statements`,
    'add prepared=off to the URL',
  ],
  XX001: ({ name }) => [
    'store-corrupt',
    `${name} is damaged`,
    'restore a backup made by pg_dump, with pg_restore',
  ],
  XX002: ({ name }) => ['store-corrupt', `${name} has a damaged index`, 'run REINDEX DATABASE on the server'],
};

/** The answers of a server to a login that mean something else during a session, by SQLSTATE. */
const AT_LOGIN: typeof BY_STATE = {
  '42501': ({ user, database }, where) => [
    'store-unavailable',
    `${where} does not let the role '${user}' connect to the database '${database}'`,
    'let an administrator run GRANT CONNECT ON DATABASE, or use another role or database in the URL',
  ],
  '55000': ({ database }, where) => [
    'store-unavailable',
    `${where} does not accept connections to the database '${database}'`,
    'use another database in the URL',
  ],
};

const CHECK_ADDRESS = 'check the host and the port in the URL, and that the server runs';
const ADD_HOST = `${CHECK_ADDRESS}. For TCP, add the host to the URL, such as postgres://USER@localhost/DATABASE`;
/** The errors of the network, by code. */
const BY_ERRNO: Record<string, (where: string) => Explanation> = {
  ECONNREFUSED: (where) => ['store-unreachable', `${where} does not accept connections`, CHECK_ADDRESS],
  ENOENT: (where) => ['store-unreachable', `${where} does not run: there is no socket`, ADD_HOST],
  ENOTFOUND: (where) => ['store-unreachable', `${where} was not found`, 'check the host in the URL'],
  EAI_AGAIN: (where) => [
    'store-unreachable',
    `the name of ${where} cannot be looked up now`,
    'check the network',
  ],
  EACCES: (where) => ['store-unreachable', `the socket of ${where} is not accessible`, CHECK_ADDRESS],
  ETIMEDOUT: (where) => ['store-unreachable', `${where} does not answer`, CHECK_ADDRESS],
  EHOSTUNREACH: (where) => ['store-unreachable', `${where} cannot be reached`, CHECK_ADDRESS],
  ENETUNREACH: (where) => ['store-unreachable', `${where} cannot be reached`, CHECK_ADDRESS],
};

const NO_PASSWORD = /client password must be|password must be a (?:non-empty )?string/;
/** The driver's errors if a new connection, or a statement, gets no answer. */
const NO_ANSWER = ['timeout expired', 'Query read timeout'];
const TLS_ERROR = /SSL|TLS|certificate|self.signed|altname/i;

const stateOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');
/** Files cause these errors, too. Only those of a connect are the server's. */
const isOfFile = (error: Error): boolean =>
  ['ENOENT', 'EACCES'].includes(stateOf(error)) && (error as NodeJS.ErrnoException).syscall !== 'connect';

/** Tells whether the server sent this error. All others mean that the connection is lost, or could not be made. */
const isFromServer = (error: unknown): boolean =>
  /^[0-9A-Z]{5}$/.test(stateOf(error)) && 'severity' in (error as object);
/** Tells whether the server has ended the connection together with this error. */
const isFatal = (error: unknown): boolean =>
  ['FATAL', 'PANIC'].includes(String((error as { severity?: unknown }).severity));

/** Tells whether two transactions got in each other's way, so that the whole transaction is to be repeated. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(stateOf(error));
export const isUniqueViolation = (error: unknown): boolean => stateOf(error) === '23505';
/** Tells whether another transaction has created the same schema, table, type or function. */
export const isDuplicate = (error: unknown): boolean =>
  ['23505', '42P06', '42P07', '42710', '42723'].includes(stateOf(error));
export const isForeignKeyViolation = (error: unknown): boolean => stateOf(error) === '23503';
/** Tells whether a row was refused because of its values: they have a wrong type, or violate a constraint. */
export const isInvalidValue = (error: unknown): boolean =>
  /^2[23]/.test(stateOf(error)) && isFromServer(error);
/** Tells whether a statement was sent outside of a transaction that needs one. */
export const isNoTransaction = (error: unknown): boolean => stateOf(error) === '25P01';
/** Tells whether the server has no connection left, or none for this role. */
export const isFull = (error: unknown): boolean => stateOf(error) === '53300';
export const isNotPermitted = (error: unknown): boolean => stateOf(error) === '42501';
/** Tells whether a table or schema is missing. */
export const isMissing = (error: unknown): boolean => ['42P01', '3F000'].includes(stateOf(error));

/** Is sent for messages that do not fit the protocol. PgBouncer also sends it for most of its own errors. */
const PROTOCOL_VIOLATION = '08P01';
/** The errors of PgBouncer that mean a mistake in the URL or in its configuration. */
const POOLER_REFUSAL =
  /^(?:no such (?:database|user)|unsupported startup parameter|.*(?:auth\w* failed|SSL required))/i;
const isRefusal = (error: Error): boolean =>
  stateOf(error) === PROTOCOL_VIOLATION && (!isFatal(error) || POOLER_REFUSAL.test(error.message));

/** The server accepts no writes, as a standby. */
const READ_ONLY = '25006';
/** A login is refused by these errors until somebody changes the URL, the role or the server. */
const LOGIN_REFUSALS = ['28P01', '28000', '3D000', '42501', '55000'];
/** Tells whether the server has refused a login, so that the next try would probably fail, too. */
const isLoginRefusal = (error: unknown): boolean =>
  LOGIN_REFUSALS.includes(stateOf(error)) && isFromServer(error) && isFatal(error);

/** Tells whether the connection was lost. What was sent before, such as a COMMIT, may have happened. */
export function isDisconnection(error: unknown): boolean {
  if (error instanceof QueueError || !(error instanceof Error)) return false;
  if (!isFromServer(error)) return isOfDriver(error);
  return (isFatal(error) || stateOf(error).startsWith('08')) && !isRefusal(error) && !isLoginRefusal(error);
}

/** Matches the driver's own errors about its connection. Errors of a program, such as a TypeError, are none. */
const isOfDriver = (error: Error): boolean =>
  (stateOf(error) in BY_ERRNO && !isOfFile(error)) ||
  ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'].includes(stateOf(error)) ||
  /^(?:Connection terminated|Query read timeout|Client (?:has|was)|timeout expired|read ECONN|write E)/.test(
    error.message,
  );

/** Errors of the network that probably mean a mistake in the URL. */
const PROBABLY_MISTAKES = ['ENOTFOUND', 'EACCES'];

/** Tells whether a new connection may succeed later, so that it is worth to wait for it. */
export const mayComeBack = (error: unknown): boolean =>
  (isDisconnection(error) && !PROBABLY_MISTAKES.includes(stateOf(error))) ||
  ['57P03', '53300', '57P01', '57P02'].includes(stateOf(error));

/** Returns a text that names the server without the role and the password. */
function serverName({ host, port }: PostgresLocation): string {
  return host.startsWith('/')
    ? `the PostgreSQL server with the socket ${host}/.s.PGSQL.${port}`
    : `the PostgreSQL server at ${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Tells whether an error may pass after a store was opened: another server may be taking over, or roles and passwords be changed. */
const mayPass = (error: unknown): boolean => stateOf(error) === READ_ONLY || isLoginRefusal(error);

/**
 * Turns a known error of PostgreSQL or of the network into a QueueError of one line. Returns other errors as they are. `wasOpen`
 * tells that the store could be opened before, so that an error that may pass is an outage, for which workers wait.
 */
export function translateError(error: unknown, location: PostgresLocation, wasOpen = false): unknown {
  if (error instanceof QueueError || !(error instanceof Error)) return error;
  const found = explain(error, location);
  if (found === null) return error;
  const code = wasOpen && mayPass(error) ? 'store-unreachable' : found[0];
  return new QueueError(code, found[1], found[2], { cause: error });
}

function explain(error: Error, location: PostgresLocation): Explanation | null {
  const where = serverName(location);
  const state = stateOf(error);
  if (isLoginRefusal(error) && AT_LOGIN[state] !== undefined) return AT_LOGIN[state](location, where);
  if (isFromServer(error) && BY_STATE[state] !== undefined) return BY_STATE[state](location, where);
  if (NO_PASSWORD.test(error.message)) return BY_STATE['28P01']!(location, where);
  if (isFromServer(error) && state === PROTOCOL_VIOLATION) return explainViolation(error, where);
  if (isOfFile(error)) return null;
  const known = BY_ERRNO[state] ?? (NO_ANSWER.includes(error.message) ? BY_ERRNO.ETIMEDOUT : undefined);
  if (known !== undefined) return known(where);
  if (isDisconnection(error)) return ['store-unreachable', `${where} ended the connection`, CHECK_ADDRESS];
  if (TLS_ERROR.test(`${state} ${error.message}`))
    return [
      'store-unavailable',
      `no TLS connection to ${where}: ${error.message}`,
      'check sslmode and sslrootcert in the URL',
    ];
  return null;
}

function explainViolation(error: Error, where: string): Explanation {
  if (isDisconnection(error))
    return ['store-unreachable', `${where} ended the connection: ${error.message}`, CHECK_ADDRESS];
  return [
    'store-unavailable',
    `${where} refused: ${error.message}`,
    'check the URL. With a pooler such as PgBouncer, add prepared=off to it',
  ];
}

/**
 * Tells whether a settlement met a change of the same moment: somebody added a hook with the same id, removed the queue of the hooks,
 * or added a job with the unique key of a job that is given back.
 */
export function isSettlementConflict(error: unknown): boolean {
  const isTaken = error instanceof QueueError && error.code === 'job-exists';
  return isTaken || isForeignKeyViolation(error) || isUniqueViolation(error);
}

/** Returns the error for a connection that was lost when a part of the contents had been passed on. */
export function lostWhileReading({ name }: PostgresLocation): QueueError {
  return new QueueError(
    'store-unavailable',
    `the connection to ${name} was lost while its contents were read`,
    'run the command again',
  );
}
