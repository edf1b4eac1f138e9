import { inWordsOf, type SchemaDialect, schemaText } from './tables.ts';
import { FIRST_VERSION, type StoredVersion } from './version.ts';
import { viewNames, viewText } from './views.ts';

/** A change of the schema that leads to the next version. */
export interface SchemaMigration {
  /** The statements, in the words of tables.ts. They may change what the views show, because these are created again afterwards. */
  sql: string;
  /**
   * Tells whether programs of the version before can still use a store on a server, so that its hosts can be upgraded one after the
   * other. They must not need what the change removes, nor leave out what it requires. Otherwise they refuse the store after it.
   */
  keepsPrograms: boolean;
}

/** All migrations, oldest first. A released migration never changes. */
export const MIGRATIONS: readonly SchemaMigration[] = [];

/** Returns the newest version, and the oldest one whose programs can use it. */
export function newestVersion(migrations = MIGRATIONS): StoredVersion {
  const breaking = migrations.findLastIndex((one) => !one.keepsPrograms);
  return { version: FIRST_VERSION + migrations.length, oldest: FIRST_VERSION + breaking + 1 };
}

/** Returns the statements that bring a schema from a version to the newest one. 0 means that there is no schema yet. */
export function statementsFrom(
  from: number,
  dialect: SchemaDialect,
  migrations: readonly SchemaMigration[] = MIGRATIONS,
): string[] {
  const missing = from === 0 ? migrations : migrations.slice(from - FIRST_VERSION);
  const views = viewText(dialect.views);
  return [
    ...(from === 0
      ? [schemaText(dialect)]
      : viewNames(views)
          .reverse()
          .map((name) => `DROP VIEW IF EXISTS ${name}`)),
    ...missing.map(({ sql }) => inWordsOf(dialect, sql)),
    views,
  ];
}
