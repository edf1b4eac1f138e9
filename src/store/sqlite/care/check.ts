import { existsSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { type InvalidSetting, readSettings } from '../../../core/stored-settings.ts';
import type { StoreCheck } from '../../contract/file-care.ts';
import { type Connection, connect } from '../connection.ts';
import { translate } from '../failures.ts';
import { expectedSchema, SCHEMA_VERSION, version } from '../migrate.ts';
import { readSettings as storedSettings } from '../queues.ts';
import * as sql from '../sql/care.ts';
import { SAVED, unreadable } from '../tables.ts';
import { refuseNoStore } from './odd-file.ts';
import { lookAt } from './peek.ts';

const SHOWN = 5;

/** Checks the file and its contents without changing them, and returns one problem a line. */
export async function checkSqlite(location: string): Promise<StoreCheck> {
  let path = resolve(location);
  try {
    if (existsSync(path)) path = realpathSync(path);
    refuseNoStore(path);
    const connection = await connect(path, lookAt);
    try {
      return { path, problems: await problemsOf(connection), invalid: await invalidSettings(connection) };
    } finally {
      connection.close();
    }
  } catch (error) {
    const known = translate(error, path);
    if (known instanceof QueueError && known.code === 'store-corrupt')
      return { path, problems: [known.message], invalid: [] };
    throw known;
  }
}

/** Tells whether nothing is wrong with the store and it can be written. */
export async function isSoundSqlite(location: string): Promise<boolean> {
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
  } catch {
    return false;
  }
}

/** Returns the problems as of one moment, because workers may be running. */
export function problemsOf(connection: Connection): Promise<string[]> {
  return connection.read(() => {
    const found = version(connection);
    const problems = lines(connection, sql.integrityCheck).filter((line) => line !== 'ok');
    for (const row of connection.all(sql.foreignKeyCheck))
      problems.push(`${row.table} ${row.rowid} refers to a missing ${row.parent}`);
    // The rest of the checks know only the schema of this version.
    if (found !== SCHEMA_VERSION) return problems;
    problems.push(...schemaProblems(connection));
    const rules = Object.entries(sql.INVARIANTS).map(
      ([rule, query]) => [rule, () => lines(connection, query)] as const,
    );
    rules.push(['all figures have valid histograms', () => oddFigures(connection)]);
    for (const [rule, find] of rules) {
      const rows = attempt(find);
      if (typeof rows === 'string') problems.push(`could not check that ${rule}: ${rows}`);
      else if (rows.length > 0) problems.push(`violated: ${rule} (${some(rows)})`);
    }
    return problems;
  });
}

/** Returns the invalid settings; none if the file cannot be read, which is reported elsewhere. */
async function invalidSettings(connection: Connection): Promise<InvalidSetting[]> {
  try {
    return readSettings(await connection.read(() => storedSettings(connection))).invalid;
  } catch {
    return [];
  }
}

function schemaProblems(connection: Connection): string[] {
  const found = new Set(connection.all(sql.schemaObjects).map((row) => JSON.stringify(row)));
  const expected = new Set(expectedSchema());
  const name = (one: string): string => String((JSON.parse(one) as { name: string }).name);
  return [
    ...[...expected]
      .filter((one) => !found.has(one))
      .map((one) => `${name(one)} is missing or differs from the expected definition`),
    ...[...found]
      .filter((one) => !expected.has(one))
      .map((one) => `${name(one)} does not belong to queuectl`),
  ];
}

/** SQLite cannot read packed counts, so this rule is not among the INVARIANTS. */
function oddFigures(connection: Connection): string[] {
  const table = SAVED.find(({ name }) => name === 'rollup')!;
  const odd: string[] = [];
  for (const row of connection.each(sql.histograms))
    if (unreadable(table, row) !== undefined) odd.push(`${row.tier} ${row.at} ${row.kind}`);
  return odd;
}

function lines(connection: Connection, query: string): string[] {
  return connection.all(query).map((row) => String(Object.values(row)[0]));
}

function attempt<T>(work: () => T): T | string {
  try {
    return work();
  } catch (error) {
    return (error as Error).message;
  }
}

function some(rows: string[]): string {
  const shown = rows.slice(0, SHOWN).join(', ');
  return rows.length > SHOWN ? `${shown} and ${rows.length - SHOWN} more` : shown;
}
