import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { QueueError } from '../../../core/errors.ts';
import { type Finding, fail, ok, warn } from '../../../core/rules/finding.ts';
import { formatBytes } from '../../../core/text/numbers.ts';
import { nearestDirectory } from '../../../files/own-files.ts';
import { stateBeside } from '../../../state/state-directory.ts';
import { contentProblems } from '../../../state/state-problems.ts';
import type { Inspection } from '../../contract/file-care.ts';
import { diskFinding, permissionFindings, problemsFinding, schemaFinding } from '../../findings.ts';
import { SCHEMA_VERSION } from '../../schema/version.ts';
import { translateError } from '../failures.ts';
import { isSafeSqliteVersion, OLDEST_SQLITE, readVersion } from '../schema-version.ts';
import * as sql from '../sql/care.ts';
import { firstColumn } from './check.ts';
import { hasTracesOfStore, headOf, refuseNoStore } from './odd-file.ts';
import { fileSystemOf, safetyProblems } from './owner.ts';
import { withStoreReads } from './peek.ts';
import { databasePath } from './replace.ts';

const LARGE_WAL_BYTES = 64 * 1024 ** 2;
const SYNCHRONOUS_FULL = 2;

/** Collects findings about a store without changing anything. With `whole`, it reads the whole file. */
export async function inspectSqlite(location: string, whole: boolean): Promise<Inspection> {
  const path = databasePath(location);
  const exists = existsSync(path);
  let store = ok('store', exists ? path : `none yet; the first enqueue creates ${path}`);
  let access: Finding[] = [];
  let contents: Finding[] = [];
  let isReadable = false;
  try {
    const state = stateBeside(path);
    const isOddFile = exists && !statSync(path).isFile();
    // A pipe or a directory is reported once, by the finding about the database.
    const problems = isOddFile ? [] : [...safetyProblems(resolve(location)), ...contentProblems(state)];
    const files = [path, `${path}-wal`, `${path}-shm`];
    access = permissionFindings(problems, state.path, files);
    if (!exists) access = access.filter((one) => one.status !== 'ok');
    if (exists || hasTracesOfStore(path)) {
      const facts = await factsOf(path, whole);
      contents = contentFindings(facts);
      isReadable = facts.schema === SCHEMA_VERSION;
    }
  } catch (error) {
    const { message, hint } = translateError(error, path) as QueueError;
    if (exists) contents = [fail('database', message, hint)];
    else store = fail('store', message, hint);
  }
  const directory = nearestDirectory(dirname(path));
  if (!exists && !isWritable(directory)) store = notCreatable(path, directory);
  const files = [store, fileSystemFinding(directory), diskFinding(directory), ...access];
  return { path, stateDirectory: stateBeside(path), isReadable, engine: sqliteFinding(), files, contents };
}

/** Tells whether this user can create files in a directory. */
function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function notCreatable(path: string, directory: string): Finding {
  return fail(
    'store',
    `none yet, and ${path} cannot be created, because the directory ${directory} is not writable`,
    `use another path with --db, or change the permissions of ${directory}`,
  );
}

function sqliteFinding(): Finding {
  const version = process.versions.sqlite ?? 'unknown';
  if (isSafeSqliteVersion(version)) return ok('sqlite', version);
  return fail(
    'sqlite',
    `${version} can corrupt a database in WAL mode; ${OLDEST_SQLITE} or newer is needed`,
    'run the queuectl executable, or use a newer Node',
  );
}

function fileSystemFinding(directory: string): Finding {
  const fileSystem = fileSystemOf(directory);
  return fileSystem.isNetwork
    ? warn(
        'file system',
        `${fileSystem.name}: SQLite is only safe on local disks`,
        'queuectl --db /a/local/path …',
      )
    : ok('file system', fileSystem.name ?? 'local');
}

interface StoreFacts {
  schema: number;
  isWal: boolean;
  synchronous: number;
  walBytes: number;
  /** The problems that the quick check found, if it ran. */
  problems: string[] | undefined;
}

/** The byte of the header at this offset is WAL_VERSION if the database is in WAL mode. */
const WRITE_VERSION_AT = 18;
const WAL_VERSION = 2;

function factsOf(path: string, whole: boolean): Promise<StoreFacts> {
  refuseNoStore(path);
  const walBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size;
  // If there is a WAL, this process may have the database open, and closing a descriptor would drop its locks. Then only SQLite
  // opens the file, and returns the mode.
  const headerShowsWal =
    walBytes === undefined ? headOf(path, WRITE_VERSION_AT + 1)[WRITE_VERSION_AT] === WAL_VERSION : null;
  return withStoreReads(path, (connection) => ({
    schema: readVersion(connection),
    isWal: headerShowsWal ?? firstColumn(connection, 'PRAGMA journal_mode')[0] === 'wal',
    synchronous: connection.pragma('synchronous'),
    walBytes: walBytes ?? 0,
    problems: whole ? firstColumn(connection, sql.quickCheck).filter((line) => line !== 'ok') : undefined,
  }));
}

function contentFindings(facts: StoreFacts): Finding[] {
  const { schema, problems, walBytes } = facts;
  return [
    facts.isWal
      ? ok('journal mode', 'wal')
      : warn('journal mode', 'delete; the next command switches it to wal', 'queuectl status'),
    facts.synchronous === SYNCHRONOUS_FULL
      ? ok('synchronous', 'full')
      : fail('synchronous', String(facts.synchronous), 'this is a bug. Please report it'),
    walBytes >= LARGE_WAL_BYTES
      ? warn(
          'wal',
          `${formatBytes(walBytes)}: a long-running reader keeps it from shrinking`,
          'find that process with fuser or lsof, and stop it',
        )
      : ok('wal', formatBytes(walBytes)),
    ...(problems === undefined
      ? []
      : [problemsFinding('quick check', problems, 'queuectl db check; queuectl db repair')]),
    schemaFinding(schema),
  ];
}
