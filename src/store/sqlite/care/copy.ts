import { realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { SCHEMA_VERSION } from '../../schema/version.ts';
import type { Store } from '../../store.ts';
import { type Connection, connect } from '../connection.ts';
import { translateError } from '../failures.ts';
import { migrate } from '../migrate.ts';
import { readVersion } from '../schema-version.ts';
import * as sql from '../sql/care.ts';
import { sqliteStore } from '../store.ts';
import { firstColumn, schemaDifferences } from './check.ts';
import { refuseOddFile } from './odd-file.ts';
import { withReads } from './peek.ts';
import { createPrivateFile } from './swap.ts';

/**
 * Copies a store as of one moment, while others may use it. SQLite itself makes the copy, because the WAL is a part of the store.
 * Throws if the source is damaged, or if `to` exists.
 */
export async function copySqlite(from: string, to: string): Promise<void> {
  try {
    const path = realpathSync(resolve(from));
    refuseOddFile(path);
    await withReads(path, (source) => copyChecked(source, to));
  } catch (error) {
    throw translateError(error, resolve(from));
  }
}

async function copyChecked(source: Connection, to: string): Promise<void> {
  if ((await source.read(() => readVersion(source))) === 0)
    throw new QueueError('not-a-database', `${source.path} is empty, not a queuectl database`);
  refuseDamaged(source);
  createPrivateFile(to);
  try {
    await source.copyInto(to);
  } catch (error) {
    throw translateError(error, dirname(dirname(to)));
  }
}

/** Opens a copy that nobody else uses, migrates it, and closes it after `work`. `check` may throw before that. */
export async function withCopy<T>(
  path: string,
  work: (copy: Store) => Promise<T>,
  check?: (copy: Connection) => Promise<void>,
): Promise<T> {
  const store = await openCopy(path, check);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function openCopy(path: string, check?: (copy: Connection) => Promise<void>): Promise<Store> {
  const connection = await connect(path);
  try {
    // The check for damage evaluates the constraints in the file, so a foreign schema is refused first.
    if (readVersion(connection) === SCHEMA_VERSION) refuseForeignSchema(connection);
    refuseDamaged(connection);
    await migrate(connection);
    refuseForeignSchema(connection);
    await check?.(connection);
    return sqliteStore(connection);
  } catch (error) {
    connection.close();
    throw translateError(error, path);
  }
}

function refuseDamaged(connection: Connection): void {
  const [first] = firstColumn(connection, sql.quickCheck);
  if (first !== 'ok') throw new QueueError('store-corrupt', `${connection.path} is damaged: ${first}`);
}

/** Throws if the schema is not the current one. A foreign file could contain triggers, which would run with every write. */
function refuseForeignSchema(connection: Connection): void {
  const { missing, foreign } = schemaDifferences(connection);
  if (missing.length + foreign.length === 0) return;
  const what = foreign.length === 0 ? 'a part is missing' : `${foreign[0]} does not belong to queuectl`;
  throw new QueueError('not-a-database', `${connection.path} has an unexpected schema: ${what}`);
}
