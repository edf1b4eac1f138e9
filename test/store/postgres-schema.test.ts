import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { problemsOf } from '../../src/store/postgres/care/check.ts';
import { readLocation } from '../../src/store/postgres/connection/location.ts';
import { migrate, migrationSql } from '../../src/store/postgres/migrate.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { readVersion } from '../../src/store/postgres/schema-version.ts';
import type { Row } from '../../src/store/row.ts';
import { MIGRATIONS, newestVersion, type SchemaMigration } from '../../src/store/schema/migrations.ts';
import { SCHEMA_VERSION } from '../../src/store/schema/version.ts';
import { SAVED_TABLES } from '../../src/store/tables.ts';
import { jobSpec, NOW } from '../support/jobs.ts';
import { makeTempSchema, onServer, type TempSchema, withPostgres } from '../support/postgres.ts';
import { withSqlite } from '../support/sqlite.ts';
import { makePostgresStoreOf020 } from '../support/store-of-020.ts';
import { inTempDir } from '../support/temp-dir.ts';

test('every exported table has the columns that a file store exports', () =>
  withPostgres((_, postgres) =>
    withSqlite(async (_, sqlite) => {
      for (const { name, ownColumns } of SAVED_TABLES) {
        const expected = sqlite
          .all('SELECT name FROM pragma_table_info(?)', name)
          .map((row) => row.name as string)
          .filter((column) => !ownColumns.includes(column));
        const rows = await postgres.read((tx) =>
          tx.all(
            `SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
            name,
          ),
        );
        const columns = rows
          .map((row) => row.attname)
          .filter((column) => !ownColumns.includes(column as string));
        expect({ name, columns }).toEqual({ name, columns: expected });
      }
    }),
  ));

test('every text column is compared byte by byte', () =>
  withPostgres(async (_, postgres) => {
    const others = await postgres.read((tx) =>
      tx.all(`SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`),
    );
    expect(others).toEqual([]);
  }));

test('many processes can create the same store at once', async () => {
  const schema = await makeTempSchema();
  await inTempDir(async (home) => {
    const opened = await Promise.all(
      Array.from({ length: 8 }, () => openPostgres(schema.url, {}, { QUEUECTL_HOME: home })),
    );
    expect(new Set(opened.map(({ store }) => store.epoch)).size).toBe(1);
    expect(opened.filter(({ created }) => created)).toHaveLength(1);
    for (const { store } of opened) await store.close();
  });
  await schema.drop();
});

test('a role that may not create tables can use a schema that an administrator has made', async () => {
  const schema = await makeTempSchema();
  const role = `role_of_${schema.name}`;
  const url = new URL(schema.url);
  url.username = role;
  url.password = 'secret';
  const asRole = (home: string) => openPostgres(url.href, {}, { QUEUECTL_HOME: home });
  await onServer(schema.url, (admin) => admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`));
  await inTempDir(async (home) => {
    const refused = await asRole(home).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'store-unavailable', exitCode: 5 });
    expect(String(refused)).not.toContain('secret');
    await onServer(schema.url, (admin) => admin.query(migrationSql(readLocation(url.href, {}), 0)));
    const { store } = await asRole(home);
    await store.insert([jobSpec('a')], NOW);
    expect(await store.counts()).toEqual([{ queue: 'default', state: 'pending', jobs: 1 }]);
    await store.close();
  });
  await schema.drop();
  await onServer(schema.url, (admin) => admin.query(`DROP ROLE ${role}`));
});

test('a store of queuectl 0.2.0 is refused and not changed', async () => {
  const schema = await makeTempSchema();
  await makePostgresStoreOf020(schema);
  const before = await relationsOf(schema);
  expect(before).toContain('job');
  await inTempDir(async (home) => {
    for (const access of ['read', 'write', 'work', 'any-version'] as const)
      await expect(openPostgres(schema.url, { access }, { QUEUECTL_HOME: home })).rejects.toMatchObject({
        code: 'older-schema',
        hint: expect.stringMatching(/queuectl export.*queuectl import/),
      });
    expect(readdirSync(home)).toEqual([]);
  });
  expect(await relationsOf(schema)).toEqual(before);
  await schema.drop();
});

/** A migration that changes what a view shows, and one that needs the words of the schema. */
const MADE_UP: SchemaMigration[] = [
  {
    sql: 'ALTER TABLE job RENAME COLUMN cwd TO directory; ALTER TABLE job RENAME COLUMN directory TO cwd',
    keepsPrograms: true,
  },
  { sql: "ALTER TABLE job ADD COLUMN made_up TEXT DEFAULT 'new'", keepsPrograms: true },
];

test('a migration runs what a schema lacks, keeps its rows and creates the views again', () =>
  withPostgres(async (store, postgres) => {
    await store.insert([jobSpec('a')], NOW);
    const { location } = postgres;
    const rights = `SELECT relname, relowner, relacl::text FROM pg_class
      WHERE relkind = 'v' AND relnamespace = current_schema()::regnamespace ORDER BY relname`;
    const role = `reader of ${location.schema}`;
    await postgres.withClient((client) =>
      client.query(`CREATE ROLE "${role}"; GRANT SELECT ON ${location.schema}.jobs_without_env TO "${role}";
        GRANT SELECT ON ${location.schema}.config TO PUBLIC; ALTER VIEW ${location.schema}.workers OWNER TO "${role}"`),
    );
    const rightsBefore = await postgres.read((tx) => tx.all(rights));
    const relations = await postgres.read((tx) => tx.all(RELATIONS));
    const found = await postgres.withClient((client) =>
      migrate(client, location, [...MIGRATIONS, ...MADE_UP]),
    );
    expect(found.version).toBe(SCHEMA_VERSION);
    expect(await postgres.withClient((client) => readVersion(client, location))).toEqual({
      version: SCHEMA_VERSION + 2,
      oldest: SCHEMA_VERSION,
    });
    const [row] = await postgres.read((tx) =>
      tx.all('SELECT job.made_up, jobs.cwd FROM job JOIN jobs USING (id)'),
    );
    expect(row).toEqual({ made_up: 'new', cwd: jobSpec('a').cwd });
    expect(await postgres.read((tx) => tx.all(RELATIONS))).toEqual(relations);
    const rightsAfter = await postgres.read((tx) => tx.all(rights));
    expect(rightsAfter.map(rightsOf)).toEqual(rightsBefore.map(rightsOf));
    expect(JSON.stringify(rightsAfter)).toContain(`${role}`);
    expect(await problemsOf(postgres)).toEqual([]);
    await postgres.withClient((client) => client.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`));
  }));

test('a migration that fails leaves the schema as it was', () =>
  withPostgres(async (_, postgres) => {
    const { location } = postgres;
    const failing = [...MIGRATIONS, ...MADE_UP, { sql: 'nonsense', keepsPrograms: true }];
    await expect(postgres.withClient((client) => migrate(client, location, failing))).rejects.toThrow(
      /syntax error/,
    );
    expect(await postgres.withClient((client) => readVersion(client, location))).toEqual(newestVersion());
    expect(await problemsOf(postgres)).toEqual([]);
  }));

/** Returns a row with the rights in one order. */
const rightsOf = ({ relname, relowner, relacl }: Row) => ({
  relname,
  relowner,
  relacl: relacl === null ? null : String(relacl).replace(/[{}]/g, '').split(',').sort(),
});

const RELATIONS = `SELECT relname, relkind FROM pg_class WHERE relnamespace = current_schema()::regnamespace ORDER BY relname`;

const relationsOf = ({ url, name }: TempSchema): Promise<string[]> =>
  onServer(url, async (client) => {
    const found = await client.query(
      'SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace ORDER BY 1',
      [name],
    );
    const version = await client.query(`SELECT value FROM ${name}.meta WHERE key = 'schema'`);
    return [...found.rows.map(({ relname }) => relname), version.rows[0].value];
  });
