import { randomName } from '../parts/transfer.ts';
import { MIGRATIONS, newestVersion, statementsFrom } from '../schema/migrations.ts';
import { SCHEMA_VERSION, type StoredVersion } from '../schema/version.ts';
import { viewNames, viewText } from '../schema/views.ts';
import type { Client } from './connection/client.ts';
import { FOREIGN_OWNER, isDuplicate } from './connection/failures.ts';
import { type PostgresLocation, quoteName } from './connection/location.ts';
import { POSTGRES_SCHEMA } from './schema.ts';
import { readVersion, refuseUnsupported, versionText } from './schema-version.ts';

/**
 * Brings a schema to the newest version. Many processes may do this at once: one migrates, and the others wait and then have
 * nothing to do. A newer schema that this program can use stays. Returns the version that the schema had. Tests pass their own
 * migrations.
 */
export async function migrate(
  client: Client,
  location: PostgresLocation,
  migrations = MIGRATIONS,
): Promise<StoredVersion> {
  const newest = newestVersion(migrations).version;
  for (let tries = 1; ; tries++) {
    await client.query('BEGIN');
    try {
      let from = await readVersion(client, location);
      if (from.version > 0 && from.version < newest) {
        await client.query(lockMeta(quoteName(location.schema)));
        from = await readVersion(client, location);
      }
      refuseUnsupported(from, location, newest);
      if (from.version < newest)
        await client.query(statements(location, from.version, migrations).join(';\n'));
      await client.query('COMMIT');
      return from;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      // Another process has created the schema at the same moment. An advisory lock could be held by any role that may connect.
      if (!isDuplicate(error) || tries === MOST_TRIES) throw error;
    }
  }
}

const MOST_TRIES = 3;
/** Every write reads this table first, so those that have begun end before the migration, and others wait for it. */
const lockMeta = (schema: string): string => `LOCK TABLE ${schema}.meta IN ACCESS EXCLUSIVE MODE`;

/** Returns the SQL that brings a schema from a version to the newest one. 0 means that the schema is empty or missing. */
function statements(location: PostgresLocation, from: number, migrations = MIGRATIONS): string[] {
  const name = quoteName(location.schema);
  const newest = versionText(newestVersion(migrations));
  const changes = statementsFrom(from, POSTGRES_SCHEMA, migrations).map((sql) =>
    sql
      .trim()
      .replace(/;$/, '')
      .replaceAll(':schema', () => name),
  );
  const search = `SET LOCAL search_path = ${name}, pg_temp`;
  if (from > 0)
    return [
      // Nothing in the schema of the queue may take the place of what the statement uses.
      'SET LOCAL search_path = pg_catalog, pg_temp',
      lockMeta(name),
      noteRights(name),
      search,
      ...changes,
      GRANT_NOTED_RIGHTS,
      `UPDATE meta SET value = '${newest}' WHERE key = 'schema'`,
    ];
  return [
    `CREATE SCHEMA IF NOT EXISTS ${name}`,
    refuseForeignOwner(name),
    search,
    ...changes,
    `INSERT INTO meta VALUES ('epoch', '${randomName()}'), ('store', '${randomName()}'), ('schema', '${newest}')`,
  ];
}

const textOf = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** Notes the owners and the rights of the views of a queue, before a migration creates these again. */
function noteRights(schemaName: string): string {
  const names = viewNames(viewText(POSTGRES_SCHEMA.views)).map(textOf);
  return `DO ${textOf(`BEGIN
    PERFORM set_config('queuectl.rights', 'SELECT 1' || coalesce(string_agg(line, '' ORDER BY step), ''), true)
    FROM pg_class AS view CROSS JOIN LATERAL (
      SELECT 1 AS step, format('; ALTER VIEW %s OWNER TO %I', view.oid::regclass, pg_get_userbyid(relowner)) AS line
      UNION ALL SELECT 2, format('; GRANT %s ON %s TO %s', privilege_type, view.oid::regclass,
        CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END) FROM aclexplode(relacl)) AS lines
    WHERE relkind = 'v' AND relnamespace = to_regnamespace(${textOf(schemaName)})::oid AND relname IN (${names});
    END`)}`;
}
const GRANT_NOTED_RIGHTS = "DO 'BEGIN EXECUTE pg_catalog.current_setting(''queuectl.rights''); END'";

/**
 * Fails if another role owns the schema, because the owner could later put tables of its own in place of those of the queue, and so
 * run commands as the workers. Superusers and the owner of the database are trusted, and groups of the role that nobody can log in as.
 */
function refuseForeignOwner(name: string): string {
  return `DO ${textOf(`BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_namespace AS one JOIN pg_catalog.pg_roles AS role ON role.oid = one.nspowner
      WHERE one.oid = pg_catalog.to_regnamespace(${textOf(name)})::oid AND NOT role.rolsuper AND role.rolname <> current_user
        AND role.rolname <> 'pg_database_owner'
        AND role.oid <> (SELECT datdba FROM pg_catalog.pg_database WHERE datname = current_database())
        AND (role.rolcanlogin OR NOT pg_catalog.pg_has_role(role.oid, 'MEMBER')))
    THEN RAISE 'the schema belongs to another role, which could replace the tables of the queue' USING ERRCODE = '${FOREIGN_OWNER}';
    END IF; END`)}`;
}

/**
 * Returns the SQL that an administrator can run in place of `migrate`, for a role that may not create tables. It lets the role of
 * the location work with them. Comments have the rights of other roles. If the schema is current, the script has only comments.
 */
export function migrationSql(location: PostgresLocation, from: number): string {
  const schema = quoteName(location.schema);
  const comments = Object.entries(RIGHTS).flatMap(([title, { role, rights }]) => [
    `-- ${title}:`,
    ...grants(schema, role, rights).map((grant) => `--   ${grant};`),
  ]);
  const more = `-- Replace the name of the role in the lines that you need.\n${comments.join('\n')}\n`;
  if (from >= SCHEMA_VERSION) return more;
  const work = grants(schema, quoteName(location.user), RIGHTS['A role that works'].rights);
  return `BEGIN;\n${[...statements(location, from), ...work].join(';\n')};\nCOMMIT;\n${more}`;
}

/** The rights that roles need, beside the right to connect. */
const RIGHTS = {
  'A role that only enqueues, with the function': {
    role: 'enqueue_role',
    rights: ['EXECUTE ON FUNCTION :schema.enqueue(json)'],
  },
  'A role that only looks, also at environment variables, standard input and output': {
    role: 'look_role',
    rights: ['SELECT ON ALL TABLES IN SCHEMA :schema'],
  },
  'A role that only looks at views without these': {
    role: 'view_role',
    rights: ['SELECT ON :schema.jobs_without_env, :schema.schedules_without_env'],
  },
  'A role that works': {
    role: 'work_role',
    rights: [
      'SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA :schema',
      'USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA :schema',
      'EXECUTE ON FUNCTION :schema.enqueue(json)',
    ],
  },
};

const grants = (schema: string, role: string, rights: readonly string[]): string[] =>
  ['USAGE ON SCHEMA :schema', ...rights].map(
    (right) => `GRANT ${right.replaceAll(':schema', () => schema)} TO ${role}`,
  );
