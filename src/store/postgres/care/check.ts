import { readSettings } from '../../../core/settings/stored-settings.ts';
import type { StoreCheck } from '../../contract/file-care.ts';
import { violatedRules } from '../../parts/checks.ts';
import { statementsFrom } from '../../schema/migrations.ts';
import { SELECT_SETTINGS, toSettings } from '../../settings.ts';
import type { ServerConnection } from '../connection/connection.ts';
import { postgresEngine } from '../engine.ts';
import { POSTGRES_SCHEMA } from '../schema.ts';
import { relations } from '../sql/care.ts';

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

/** Returns the problems, each in one line. */
export async function problemsOf(db: ServerConnection): Promise<string[]> {
  return [...(await missingRelations(db)), ...(await violatedRules(postgresEngine(db)))];
}

/** Returns a line for each table, index or view that is missing or invalid. */
async function missingRelations(db: ServerConnection): Promise<string[]> {
  const found = new Set((await db.read((tx) => tx.all(relations))).map(({ name }) => name));
  const expected = new Set<string>();
  const statements = statementsFrom(0, POSTGRES_SCHEMA).join('\n');
  for (const [, verb, name] of statements.matchAll(
    /^ *(CREATE|DROP) (?:UNIQUE |UNLOGGED )?(?:TABLE|INDEX|VIEW) (\w+)/gm,
  ))
    verb === 'CREATE' ? expected.add(name!) : expected.delete(name!);
  return [...expected].filter((name) => !found.has(name)).map((name) => `${name} is missing or invalid`);
}
