import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { QueueError } from '../core/errors.ts';
import { shellWord } from '../core/text/shell-quote.ts';

/** Returns the location of the store: --db, else QUEUECTL_DB (or QUEUECTL_DB_PATH), else $QUEUECTL_HOME/queue.db, else ~/.queuectl/queue.db. */
export function storeLocation(flag: string | undefined, environment: NodeJS.ProcessEnv): string {
  const given = flag || environment.QUEUECTL_DB || environment.QUEUECTL_DB_PATH;
  const location = given || join(queuectlHome(environment), 'queue.db');
  refuseInvalidUtf8(location);
  return location.includes(':') ? resolveUrl(location) : location;
}

/** Returns the directory of the default store. It also has the state directories of queues on a server. */
export function queuectlHome(environment: NodeJS.ProcessEnv): string {
  return environment.QUEUECTL_HOME || join(home(environment), '.queuectl');
}

/** Schemes other than these, `file:` and `sqlite:` are refused. A file named after a URL would show the password in it. */
const STORE_SCHEMES = ['postgres', 'postgresql'];

/** Tells whether the location is the URL of a database server. */
export const isServerUrl = (location: string): boolean =>
  location.includes(':') && STORE_SCHEMES.includes(schemeOf(location) ?? '');

/** Looks for a colon first, because making a pattern is slow. */
const schemeOf = (location: string): string | undefined =>
  location.includes(':') ? matchScheme(location) : undefined;

const matchScheme = (location: string): string | undefined =>
  /^([a-z][a-z0-9+.-]+):/i.exec(location)?.[1]?.toLowerCase();

/** Returns the location, or the path if it is a `file:` or `sqlite:` URL. Throws if the scheme is unknown. */
function resolveUrl(location: string): string {
  const scheme = schemeOf(location);
  // This is the name of SQLite's database in memory, also as a URL such as `sqlite::memory:` or `sqlite:///:memory:`.
  if (/^((file|sqlite):\/*)?:memory:/i.test(location))
    throw new QueueError(
      'store-unavailable',
      "':memory:' cannot be used, because commands, workers and jobs share the database through a file",
      'use the path of a file, such as one in a temporary directory',
    );
  if (scheme === undefined || STORE_SCHEMES.includes(scheme)) return location;
  if (scheme === 'file' || scheme === 'sqlite') {
    const rest = location.slice(scheme.length + 1);
    const path = rest.replace(/^\/\/(?=[^/]*$)/, '').replace(/^\/+/, '/');
    const isLocal = !/^\/\/[^/]+\//.test(rest);
    if (path !== '' && isLocal && !/[?#]/.test(path)) return path;
    throw new QueueError(
      'store-unavailable',
      `invalid database URL with the scheme '${scheme}:'`,
      `use ${scheme}:/path/to/queue.db, or the path alone`,
    );
  }
  throw new QueueError(
    'store-unavailable',
    `unknown kind of database '${scheme}:'`,
    'use the path of a file, or postgres://USER@HOST/DATABASE. If the name of the file contains a colon: --db ./NAME',
  );
}

/** Throws if the directory of a location is missing that was given as `what`, because that is probably a typing error. */
export function refuseMissingDirectory(location: string, what = '--db'): void {
  if (schemeOf(location) !== undefined) return;
  const directory = dirname(resolve(location));
  if (existsSync(directory)) return;
  throw new QueueError(
    'store-unavailable',
    `${what}: there is no directory ${directory}`,
    `check the path, or create the directory: mkdir -p ${shellWord(directory)}`,
  );
}

/** Returns the home directory. Throws if it is a relative path, which would mean another store in every directory. */
function home(environment: NodeJS.ProcessEnv): string {
  // Without HOME, node:os reads the user database. It is loaded only then.
  const found = environment.HOME || process.getBuiltinModule('node:os').homedir();
  if (isAbsolute(found)) return found;
  throw new QueueError(
    'store-unavailable',
    `the default store is in the home directory, but HOME is '${found}', which is not an absolute path`,
    'set HOME to an absolute path, or use --db PATH',
  );
}

/** Throws if a directory name is not valid UTF-8. The runtime replaces such bytes by U+FFFD, so the store would be created elsewhere. */
function refuseInvalidUtf8(location: string): void {
  if ((!location.includes('\uFFFD') && isAbsolute(location)) || isServerUrl(location)) return;
  const path = resolveInDirectory(location);
  if (!path.includes('\uFFFD') || existsSync(dirname(path))) return;
  throw new QueueError('store-unavailable', `a directory name is not valid UTF-8: ${dirname(path)}`);
}

/** Returns a location as an absolute path. Throws if it is relative to a directory that was removed. */
function resolveInDirectory(location: string): string {
  try {
    process.cwd();
    return resolve(location);
  } catch (error) {
    throw new QueueError(
      'store-unavailable',
      `cannot find ${location}: the current directory no longer exists`,
      'change to another directory, or use an absolute path',
      { cause: error },
    );
  }
}
