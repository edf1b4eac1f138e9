import { realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import type { Store } from '../../store.ts';
import { type Connection, connect } from '../connection.ts';
import { translate } from '../failures.ts';
import { migrate, refuseUnreleased, SCHEMA_VERSION, version } from '../migrate.ts';
import * as sql from '../sql/care.ts';
import { sqliteStore } from '../store.ts';
import { lines, schemaDifferences } from './check.ts';
import { makeFile } from './hold.ts';
import { refuseOddFile } from './odd-file.ts';
import { look } from './peek.ts';

/**
 * Copies a store as of one moment, while others may work on it. SQLite itself copies it, because the WAL belongs to it. The
 * source is checked. `to` must not exist.
 */
export async function copySqlite(from: string, to: string): Promise<void> {
  try {
    const path = realpathSync(resolve(from));
    refuseOddFile(path);
    await look(path, (source) => copyChecked(source, to), dirname(to));
  } catch (error) {
    throw translate(error, resolve(from));
  }
}

async function copyChecked(source: Connection, to: string): Promise<void> {
  if ((await source.read(() => refuseUnreleased(source, version(source)))) === 0)
    throw new QueueError('not-a-database', `${source.path} is empty, not a queuectl database`);
  refuseDamaged(source);
  makeFile(to);
  try {
    await source.copyInto(to);
  } catch (error) {
    throw translate(error, dirname(dirname(to)));
  }
}

/** Opens a copy that nobody else works on, brought to this version's schema, and closes it after `work`. */
export async function withCopy<T>(path: string, work: (copy: Store) => Promise<T>): Promise<T> {
  const store = await openCopy(path);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function openCopy(path: string): Promise<Store> {
  const connection = await connect(path);
  try {
    // The check evaluates the constraints of the file, so a schema that is not ours is refused before.
    if (version(connection) === SCHEMA_VERSION) refuseForeignSchema(connection);
    refuseDamaged(connection);
    await migrate(connection);
    refuseForeignSchema(connection);
    return sqliteStore(connection);
  } catch (error) {
    connection.close();
    throw translate(error, path);
  }
}

function refuseDamaged(connection: Connection): void {
  const [first] = lines(connection, sql.quickCheck);
  if (first !== 'ok') throw new QueueError('store-corrupt', `${connection.path} is damaged: ${first}`);
}

/** Throws if the schema is not ours. A file from elsewhere could bring triggers, which would run with every write. */
function refuseForeignSchema(connection: Connection): void {
  const { missing, foreign } = schemaDifferences(connection);
  if (missing.length + foreign.length === 0) return;
  const what = foreign.length === 0 ? 'a part is missing' : `${foreign[0]} does not belong to queuectl`;
  throw new QueueError('not-a-database', `${connection.path} has an unexpected schema: ${what}`);
}
