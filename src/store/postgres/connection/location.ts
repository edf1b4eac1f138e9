import { userInfo } from 'node:os';
import { QueueError } from '../../../core/errors.ts';

/** How much TLS a connection needs, with the names that PostgreSQL uses. */
const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof TLS_MODES)[number];

/** Where a queue is: a schema of a database, and how to connect to it. */
export interface PostgresLocation {
  /** A host name or address, or the directory of a Unix socket. */
  host: string;
  port: number;
  user: string;
  database: string;
  /** Null if it is to be read from the password file, or if none is needed. */
  password: string | null;
  schema: string;
  tls: TlsMode;
  /** The paths of the files for TLS. */
  rootCertificate: string | null;
  certificate: string | null;
  key: string | null;
  /** Infinite if there is no limit. */
  connectTimeoutMs: number;
  applicationName: string;
  /** False for a pooler that cannot keep prepared statements, such as PgBouncer before 1.21. */
  prepared: boolean;
  /** The URL of a direct connection for notifications, beside a pooler. Null means the same server. */
  listen: string | null;
  /** The path of the password file, as PGPASSFILE gives it. Null means `~/.pgpass`. */
  passwordFile: string | null;
  /** The name or the id of the user to whom the socket must belong. Null means root, this user or postgres. */
  socketOwner: string | null;
  /** Names the queue in messages. It contains no password. */
  name: string;
}

const DEFAULT_PORT = 5432;
const DEFAULT_SCHEMA = 'queuectl';
const DEFAULT_CONNECT_TIMEOUT_S = 10;
const LONGEST_NAME_BYTES = 63;
/** Where PostgreSQL's own library looks. All Linux distributions build it with this directory, and others mostly with /tmp. */
const SOCKET_DIRECTORY = process.platform === 'linux' ? '/var/run/postgresql' : '/tmp';
const EXAMPLE = 'use postgres://USER@HOST/DATABASE?schema=SCHEMA';

/** The parameters of a URL, each with the environment variable that gives its default. */
const PARAMETERS: Record<string, string | null> = {
  schema: null,
  prepared: null,
  listen: null,
  host: 'PGHOST',
  hostaddr: 'PGHOSTADDR',
  port: 'PGPORT',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  dbname: 'PGDATABASE',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  application_name: 'PGAPPNAME',
  passfile: 'PGPASSFILE',
  requirepeer: 'PGREQUIREPEER',
};

/** Reads a `postgres://` URL. What it leaves out comes from the environment variables of PostgreSQL. No error shows the URL. */
export function readLocation(location: string, environment: NodeJS.ProcessEnv): PostgresLocation {
  const parameters = readerOf(parametersOf(location), environment);
  const { value } = parameters;
  const port = readNumber(parameters, 'port', DEFAULT_PORT, 1, 65_535);
  const user = value('user') ?? userInfo().username;
  const host = value('host') ?? value('hostaddr') ?? SOCKET_DIRECTORY;
  const database = value('dbname') ?? user;
  const schema = readSchema(value('schema') ?? DEFAULT_SCHEMA);
  const prepared = value('prepared') ?? 'on';
  if (prepared !== 'on' && prepared !== 'off') throw parameters.invalid('prepared', 'use on or off');
  return {
    ...{ host, port, user, database, schema },
    password: value('password'),
    tls: readTlsMode(parameters),
    rootCertificate: value('sslrootcert'),
    certificate: value('sslcert'),
    key: value('sslkey'),
    // As in PostgreSQL's own library, 0 means no limit.
    connectTimeoutMs:
      1000 * readNumber(parameters, 'connect_timeout', DEFAULT_CONNECT_TIMEOUT_S, 0, 3600) ||
      Number.POSITIVE_INFINITY,
    applicationName: value('application_name') ?? 'queuectl',
    prepared: prepared === 'on',
    listen: value('listen'),
    passwordFile: value('passfile'),
    socketOwner: value('requirepeer'),
    name: nameOf(host, port, user, database, schema),
  };
}

/** Reads parameters by name, from the URL or else from the environment. */
interface Reader {
  value(name: string): string | null;
  /** Returns the error for a value that cannot be used. It names the variable that has the value, if the URL does not have it. */
  invalid(name: string, hint: string): QueueError;
}

function readerOf(given: Map<string, string>, environment: NodeJS.ProcessEnv): Reader {
  const variableOf = (name: string): string => PARAMETERS[name] ?? '';
  const value = (name: string): string | null => given.get(name) || environment[variableOf(name)] || null;
  return {
    value,
    invalid(name, hint) {
      const isInUrl = Boolean(given.get(name));
      const source = isInUrl ? 'PostgreSQL URL' : 'environment variable';
      const what = `${isInUrl ? name : variableOf(name)} is '${value(name)}'`;
      return new QueueError('store-unavailable', `invalid ${source}: ${what}`, hint);
    },
  };
}

function parametersOf(location: string): Map<string, string> {
  const url = parseUrl(location);
  const given = new Map<string, string>();
  const set = (name: string, text: string): void => {
    if (text !== '') given.set(name, decode(text));
  };
  set('user', url.username);
  set('password', url.password);
  if (url.hostname !== NO_HOST) set('host', url.hostname.replace(/^\[(.*)\]$/, '$1'));
  set('port', url.port);
  set('dbname', url.pathname.replace(/^\//, ''));
  for (const [name, text] of url.searchParams) {
    if (!(name in PARAMETERS)) throw unknownParameter(name, url.search);
    given.set(name, text);
  }
  return given;
}

/** Shows a name only if it cannot be a part of a password that contains `?`. */
function unknownParameter(name: string, search: string): QueueError {
  const shown = /^\w{1,40}$/.test(name) && !search.includes('@') ? ` '${name}'` : '';
  return invalidUrl(
    `unknown parameter${shown}`,
    `use some of: ${Object.keys(PARAMETERS).join(', ')}. Write ? in a password as %3F`,
  );
}

/** Stands for no host, because a URL with a user cannot be parsed without a host. */
const NO_HOST = 'no-host.invalid';

/** Matches a URL whose path has no `@` and that has no fragment. They would be parts of a password with a `/` or `#`. */
const SHAPE = /^\w+:\/\/[^/?#]*(?:\/[^?#@]*)?(?:\?[^#]*)?$/;

function parseUrl(location: string): URL {
  if (!/^\w+:\/\//.test(location)) throw invalidUrl('it does not begin with postgres://', EXAMPLE);
  if (!SHAPE.test(location))
    throw invalidUrl(
      'a / or # in a password, or a @ in a database name, is not encoded',
      'write / as %2F, # as %23 and @ as %40',
    );
  try {
    return new URL(location.replace(/^(\w+:\/\/[^/?#]*@)(?=[/?]|$)/, `$1${NO_HOST}`));
  } catch {
    throw invalidUrl('it cannot be parsed', EXAMPLE);
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidUrl('a % in it is not followed by two hex digits', 'write % as %25');
  }
}

function readNumber(
  { value, invalid }: Reader,
  name: string,
  otherwise: number,
  min: number,
  max: number,
): number {
  const number = Number(value(name) ?? otherwise);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw invalid(name, `use a number from ${min} to ${max}`);
}

function readTlsMode({ value, invalid }: Reader): TlsMode {
  const text = value('sslmode') ?? 'prefer';
  const mode = TLS_MODES.find((one) => one === text);
  if (mode === undefined) throw invalid('sslmode', `use one of: ${TLS_MODES.join(', ')}`);
  return mode;
}

/** Returns the name of a schema. PostgreSQL would shorten a longer name, and keeps names that begin with pg_ for itself. */
function readSchema(name: string): string {
  const fits = Buffer.byteLength(name) <= LONGEST_NAME_BYTES && !/\p{Cc}/u.test(name) && !/^pg_/i.test(name);
  if (fits) return name;
  throw invalidUrl(
    `'${name}' is not a name for a schema`,
    `use at most ${LONGEST_NAME_BYTES} bytes without control characters that do not begin with pg_`,
  );
}

function nameOf(host: string, port: number, user: string, database: string, schema: string): string {
  const isSocket = host.startsWith('/');
  const address = isSocket ? '' : host.includes(':') ? `[${host}]` : host;
  const at = port === DEFAULT_PORT || isSocket ? '' : `:${port}`;
  const more = new URLSearchParams(isSocket ? { host, schema } : { schema });
  if (isSocket && port !== DEFAULT_PORT) more.set('port', String(port));
  return `postgres://${encodeURIComponent(user)}@${address}${at}/${encodeURIComponent(database)}?${more}`.replaceAll(
    '%2F',
    '/',
  );
}

/** Returns a name as SQL contains it. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function invalidUrl(what: string, hint: string): QueueError {
  return new QueueError('store-unavailable', `invalid PostgreSQL URL: ${what}`, hint);
}
