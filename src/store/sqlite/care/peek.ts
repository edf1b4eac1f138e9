import { existsSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from '../../store.ts';
import { connect } from '../connection.ts';
import { translate } from '../failures.ts';
import { isOpenHere } from '../live-files.ts';
import { SCHEMA_VERSION, version } from '../migrate.ts';
import { sqliteStore } from '../store.ts';
import { refuseOddFile } from './odd-file.ts';
import { unsafeParts } from './owner.ts';
import { openAlone, openPrivateCopy } from './private-copy.ts';

/** Reads the epochs of a store of any version. Returns null if the file is empty. */
export async function epochsOf(path: string): Promise<{ epoch: string; origin: string | null } | null> {
  refuseOddFile(path);
  const connection = await connect(path, lookAt);
  try {
    if (version(connection) === 0) return null;
    const { epoch, origin } = sqliteStore(connection);
    return { epoch, origin };
  } catch (error) {
    throw translate(error, path);
  } finally {
    connection.close();
  }
}

export async function peekSqlite(location: string): Promise<Store | null> {
  let path: string;
  try {
    path = realpathSync(resolve(location));
  } catch {
    return null;
  }
  refuseOddFile(path);
  const connection = await connect(path, lookAt);
  try {
    if (version(connection) === SCHEMA_VERSION) return sqliteStore(connection);
  } catch (error) {
    connection.close();
    throw translate(error, path);
  }
  connection.close();
  return null;
}

/**
 * Leaves no trace. A WAL file means that somebody is at work, or died: then it has to be read too, and is there already.
 * Without one the file is complete in itself; opened the ordinary way, SQLite would put a WAL beside it, and beside a file that
 * was cut to nothing remove the one that is there. Where other users could put files beside it, a private copy is opened.
 */
export function lookAt(path: string, scratch?: string): DatabaseSync {
  if (unsafeParts(path).length > 0 && !isOpenHere(path)) return openPrivateCopy(path, scratch);
  const readsWal = existsSync(`${path}-wal`) && statSync(path).size > 0;
  return readsWal ? new DatabaseSync(path, { readOnly: true }) : openAlone(path);
}
