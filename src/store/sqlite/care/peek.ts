import { existsSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { orNull } from '../../../core/or-null.ts';
import type { Store } from '../../store.ts';
import { type Connection, connect } from '../connection.ts';
import { translateError } from '../failures.ts';
import { isOpenHere } from '../live-files.ts';
import { readVersion, SCHEMA_VERSION } from '../schema-version.ts';
import { sqliteStore } from '../store.ts';
import { refuseOddFile } from './odd-file.ts';
import { safetyProblems } from './owner.ts';
import { openPrivateCopy, openSingleFile } from './private-copy.ts';

/** Reads the epoch and the origin of a store of this or an older version. Returns null if the file is empty. */
export async function epochsOf(path: string): Promise<{ epoch: string; origin: string | null } | null> {
  refuseOddFile(path);
  return withReadOnly(path, (connection) => {
    if (readVersion(connection) === 0) return null;
    const { epoch, origin } = sqliteStore(connection);
    return { epoch, origin };
  });
}

/** Opens a database to read from it, and closes it after `work`. Leaves no files. If a private copy is needed, it is made in `copyDirectory`. */
export async function withReadOnly<T>(
  path: string,
  work: (connection: Connection) => T | Promise<T>,
  copyDirectory?: string,
): Promise<T> {
  const connection = await connect(path, { open: (db) => openToRead(db, copyDirectory) });
  try {
    return await work(connection);
  } catch (error) {
    throw translateError(error, path);
  } finally {
    connection.close();
  }
}

export async function peekSqlite(location: string): Promise<Store | null> {
  const path = orNull(() => realpathSync(resolve(location)));
  if (path === null) return null;
  refuseOddFile(path);
  const connection = await connect(path, { open: openToRead });
  try {
    if (readVersion(connection) === SCHEMA_VERSION) return sqliteStore(connection);
  } catch (error) {
    connection.close();
    throw translateError(error, path);
  }
  connection.close();
  return null;
}

/**
 * Opens a database without changing its files. If there is a WAL, it is read, too. If there is none, SQLite reads only the file
 * itself, because otherwise it would create a WAL. The WAL beside an empty file is not read, because SQLite would remove it. If
 * other users could put files beside the database, a private copy is opened.
 */
function openToRead(path: string, copyDirectory?: string): DatabaseSync {
  if (safetyProblems(path).length > 0 && !isOpenHere(path)) return openPrivateCopy(path, copyDirectory);
  const readsWal = existsSync(`${path}-wal`) && statSync(path).size > 0;
  return readsWal ? new DatabaseSync(path, { readOnly: true }) : openSingleFile(path);
}
