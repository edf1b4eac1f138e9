import { readSettings } from '../../../core/settings/stored-settings.ts';
import type { StoreCheck } from '../../contract/file-care.ts';
import { problemsOfRule, uncheckedRule } from '../../rule-problems.ts';
import { statementsFrom } from '../../schema/migrations.ts';
import { SELECT_SETTINGS, toSettings } from '../../settings.ts';
import { SAVED_TABLES, unreadableColumn } from '../../tables.ts';
import type { ServerConnection } from '../connection.ts';
import { POSTGRES_SCHEMA } from '../schema.ts';
import * as sql from '../sql/checks.ts';

const FIX =
  'restore a backup made by pg_dump, with pg_restore, and then run queuectl db renew. PostgreSQL itself is checked by pg_amcheck';

export async function checkContents(db: ServerConnection): Promise<StoreCheck> {
  return {
    path: db.location.name,
    fix: FIX,
    problems: await problemsOf(db),
    invalidSettings: readSettings(toSettings(await db.all(SELECT_SETTINGS)), true).invalid,
  };
}

/** Returns the problems, each in one line. Each rule is checked at one moment. Workers may be running meanwhile. */
export async function problemsOf(db: ServerConnection): Promise<string[]> {
  const problems = await missingRelations(db);
  const rules: [string, () => Promise<string[]>][] = [
    ...Object.entries(sql.INVARIANTS).map(([rule, query]): [string, () => Promise<string[]>] => [
      rule,
      async () => (await db.read((tx) => tx.all(query))).map(({ row }) => String(row)),
    ]),
    ['JSON fields of jobs contain valid JSON', () => unreadableRows(db, 'job', sql.jsonOfJobs)],
    [
      'JSON fields of schedules contain valid JSON',
      () => unreadableRows(db, 'schedule', sql.jsonOfSchedules),
    ],
    ['all figures have valid histograms', () => unreadableRows(db, 'rollup', sql.histograms)],
  ];
  for (const [rule, find] of rules) {
    try {
      problems.push(...problemsOfRule(rule, await find()));
    } catch (error) {
      problems.push(uncheckedRule(rule, error));
    }
  }
  return problems;
}

/** Returns a line for each table, index or view that is missing or invalid. */
async function missingRelations(db: ServerConnection): Promise<string[]> {
  const found = new Set((await db.read((tx) => tx.all(sql.relations))).map(({ name }) => name));
  const expected = new Set<string>();
  const statements = statementsFrom(0, POSTGRES_SCHEMA).join('\n');
  for (const [, verb, name] of statements.matchAll(
    /^ *(CREATE|DROP) (?:UNIQUE |UNLOGGED )?(?:TABLE|INDEX|VIEW) (\w+)/gm,
  ))
    verb === 'CREATE' ? expected.add(name!) : expected.delete(name!);
  return [...expected].filter((name) => !found.has(name)).map((name) => `${name} is missing or invalid`);
}

/** Returns the names of the rows with a column that cannot be parsed. */
async function unreadableRows(db: ServerConnection, tableName: string, query: string): Promise<string[]> {
  const table = SAVED_TABLES.find(({ name }) => name === tableName)!;
  return db.read(async (tx) => {
    const names: string[] = [];
    for await (const { row, ...columns } of tx.each(query))
      if (unreadableColumn(table, columns) !== undefined) names.push(String(row));
    return names;
  });
}
