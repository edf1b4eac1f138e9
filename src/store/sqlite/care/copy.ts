import { realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import type { Store } from '../../store.ts';
import { type Connection, connect } from '../connection.ts';
import { translate } from '../failures.ts';
import { expectedSchema, migrate, refuseUnreleased, SCHEMA_VERSION, version } from '../migrate.ts';
import * as sql from '../sql/care.ts';
import { sqliteStore } from '../store.ts';
import { makeFile } from './new-file.ts';
import { refuseOddFile } from './odd-file.ts';
import { lookAt } from './peek.ts';

/**
 * Copies a store as of one moment, whoever works on it: by SQLite's own means, because the WAL belongs to it. Both ends are
 * checked; `to` must not exist.
 */
export async function copySqlite(from: string, to: string): Promise<void> {
  const source = await openToLook(from, dirname(to));
  try {
    if ((await source.read(() => refuseUnreleased(source, version(source)))) === 0)
      throw new QueueError('not-a-database', `${source.path} is empty, not a queuectl database`);
    refuseDamaged(source);
    await copyInto(source, to);
  } catch (error) {
    throw translate(error, source.path);
  } finally {
    source.close();
  }
}

async function copyInto(source: Connection, to: string): Promise<void> {
  try {
    makeFile(to);
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
    // The check evaluates the constraints of the file, so a schema that is not ours is refused first.
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

async function openToLook(location: string, scratch: string): Promise<Connection> {
  try {
    const path = realpathSync(resolve(location));
    refuseOddFile(path);
    return await connect(path, (one) => lookAt(one, scratch));
  } catch (error) {
    throw translate(error, resolve(location));
  }
}

function refuseDamaged(connection: Connection): void {
  const [first] = connection.all(sql.quickCheck).map((row) => String(Object.values(row)[0]));
  if (first !== 'ok') throw new QueueError('store-corrupt', `${connection.path} is damaged: ${first}`);
}

/** Throws if the schema is not ours: a file from elsewhere could bring triggers, which would run with every write. */
function refuseForeignSchema(connection: Connection): void {
  const found = connection.all(sql.schemaObjects).map((row) => JSON.stringify(row));
  const expected = new Set(expectedSchema());
  const stranger = found.find((one) => !expected.has(one));
  if (stranger !== undefined || found.length !== expected.size) {
    const what =
      stranger === undefined
        ? 'a part is missing'
        : `${JSON.parse(stranger).name} does not belong to queuectl`;
    throw new QueueError('not-a-database', `${connection.path} has an unexpected schema: ${what}`);
  }
}
