import { existsSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { type InvalidSetting, readSettings } from '../../../core/settings/stored-settings.ts';
import type { StoreCheck } from '../../contract/file-care.ts';
import { violatedRules } from '../../parts/checks.ts';
import { SCHEMA_VERSION } from '../../schema/version.ts';
import { SELECT_SETTINGS, toSettings } from '../../settings.ts';
import { type Connection, connect } from '../connection.ts';
import { sqliteEngine } from '../engine.ts';
import { translateError } from '../failures.ts';
import { expectedSchema } from '../migrate.ts';
import { readVersion } from '../schema-version.ts';
import * as sql from '../sql/care.ts';
import { refuseNoStore } from './odd-file.ts';
import { withStoreReads } from './peek.ts';

const FIX = 'to repair the database: queuectl db repair. To restore a backup: queuectl restore FILE';

/** Checks the file and its contents without changing them. */
export async function checkSqlite(location: string): Promise<StoreCheck> {
  let path = resolve(location);
  try {
    if (existsSync(path)) path = realpathSync(path);
    refuseNoStore(path);
    return await withStoreReads(path, async (connection) => ({
      path,
      fix: FIX,
      problems: await problemsOf(connection),
      invalidSettings: await readInvalidSettings(connection),
    }));
  } catch (error) {
    const known = translateError(error, path);
    if (known instanceof QueueError && known.code === 'store-corrupt')
      return { path, fix: FIX, problems: [known.message], invalidSettings: [] };
    throw known;
  }
}

/** Tells whether nothing is wrong with the store and it can be written. Throws if it is too old for this version of queuectl. */
export async function isSoundStore(location: string): Promise<boolean> {
  try {
    const { path, problems } = await checkSqlite(location);
    if (problems.length > 0 || statSync(path).size === 0) return false;
    const connection = await connect(path);
    try {
      connection.exec('BEGIN IMMEDIATE; ROLLBACK');
      return true;
    } finally {
      connection.close();
    }
  } catch (error) {
    if (error instanceof QueueError && error.code === 'older-schema') throw error;
    return false;
  }
}

/** Returns the problems, each in one line. Workers may be running meanwhile. */
export async function problemsOf(connection: Connection): Promise<string[]> {
  const { version, problems } = await connection.read(() => ({
    version: readVersion(connection),
    problems: [
      ...firstColumn(connection, sql.integrityCheck).filter((line) => line !== 'ok'),
      ...connection
        .all(sql.foreignKeyCheck)
        .map((row) => `${row.table} ${row.rowid} refers to a missing ${row.parent}`),
    ],
  }));
  // The other checks apply only to the current schema.
  if (version !== SCHEMA_VERSION) return problems;
  problems.push(...(await connection.read(() => schemaProblems(connection))));
  return [...problems, ...(await violatedRules(sqliteEngine(connection)))];
}

/** Returns the invalid settings, or none if the file cannot be read, which is reported elsewhere. */
async function readInvalidSettings(connection: Connection): Promise<InvalidSetting[]> {
  try {
    return readSettings(await connection.read(() => toSettings(connection.all(SELECT_SETTINGS)))).invalid;
  } catch {
    return [];
  }
}

function schemaProblems(connection: Connection): string[] {
  const { missing, foreign } = schemaDifferences(connection);
  return [
    ...missing.map((name) => `${name} is missing or differs from the expected definition`),
    ...foreign.map((name) => `${name} does not belong to queuectl`),
  ];
}

/** Returns the names of the expected schema objects that are missing or differ, and of unexpected objects in the file. */
export function schemaDifferences(connection: Connection): { missing: string[]; foreign: string[] } {
  const found = connection.all(sql.schemaObjects).map((row) => JSON.stringify(row));
  const expected = expectedSchema();
  const namesOnlyIn = (these: string[], others: string[]): string[] =>
    these.filter((one) => !others.includes(one)).map((one) => String(JSON.parse(one).name));
  return { missing: namesOnlyIn(expected, found), foreign: namesOnlyIn(found, expected) };
}

export function firstColumn(connection: Connection, query: string): string[] {
  return connection.all(query).map((row) => String(Object.values(row)[0]));
}
