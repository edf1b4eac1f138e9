import { expect, test } from 'bun:test';
import type { State } from '../../src/core/jobs/job.ts';
import { readLocation } from '../../src/store/postgres/location.ts';
import { migrate, migrationSql } from '../../src/store/postgres/migrate.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { STORE_COLUMNS } from '../../src/store/postgres/schema.ts';
import { MIGRATIONS } from '../../src/store/postgres/schema-version.ts';
import { SAVED_TABLES } from '../../src/store/tables.ts';
import { jobSpec, NOW } from '../support/jobs.ts';
import { makeTempSchema, onServer, withPostgres } from '../support/postgres.ts';
import { withSqlite } from '../support/sqlite.ts';
import { inTempDir } from '../support/temp-dir.ts';

test('every exported table has the columns that a file store exports', () =>
  withPostgres((_, postgres) =>
    withSqlite(async (_, sqlite) => {
      for (const { name, derivedColumns } of SAVED_TABLES) {
        const expected = sqlite
          .all('SELECT name FROM pragma_table_info(?)', name)
          .map((row) => row.name as string)
          .filter((column) => !derivedColumns.includes(column));
        const rows = await postgres.read((tx) =>
          tx.all(
            `SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
            name,
          ),
        );
        const own = STORE_COLUMNS[name] ?? [];
        const columns = rows.map((row) => row.attname).filter((column) => !own.includes(column as string));
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

test('jobs and schedules with a label move to the queue of that name', async () => {
  const schema = await makeTempSchema();
  const location = readLocation(schema.url, {});
  const insertLabelled = (id: string, runsOn: string | null, more: string): string =>
    `INSERT INTO job (id, queue, runs_on, priority, max_retries, created_at, updated_at, cwd, command, state, phase, due_at, finished_at,
      bytes) VALUES ('${id}', 1, ${runsOn === null ? 'NULL' : `'${runsOn}'`}, 0, 3, 1, 1, '/', 'true', ${more})`;
  await onServer(schema.url, async (client) => {
    // Version 5 is the last one with labels.
    await migrate(client, location, MIGRATIONS.slice(0, 3));
    await client.query(
      [
        `SET search_path = ${schema.name}`,
        "INSERT INTO queue (name, aging_ms) VALUES ('default', 60000), ('gpu', NULL)",
        insertLabelled('plain', null, "'pending', 'ready', 1, NULL, 0"),
        insertLabelled('ready', 'gpu', "'pending', 'ready', 1, NULL, 7"),
        insertLabelled('later', 'host:a', `'pending', 'waiting', ${NOW + 1000}, NULL, 0`),
        insertLabelled('dead', 'gpu', "'dead', 'ended', NULL, 2, 0"),
        insertLabelled('done', 'gpu', "'completed', 'ended', NULL, 2, 0"),
        'INSERT INTO counter SELECT queue, state, count(*), sum(bytes) FROM job GROUP BY queue, state',
        `INSERT INTO schedule (name, every_ms, anchor_at, overlap, catch_up, created_at, job)
          VALUES ('ticks', 1, 1, 'skip', 'none', 1, '{"command":"true","runsOn":"tpu"}'),
            ('other', 1, 1, 'skip', 'none', 1, '{"command":"true"}')`,
      ].join(';\n'),
    );
  });
  await inTempDir(async (home) => {
    const { store, notes } = await openPostgres(schema.url, {}, { QUEUECTL_HOME: home });
    expect(notes).toEqual([
      expect.stringContaining('(gpu, host:a, tpu)'),
      expect.stringContaining('no longer gain priority (queue default)'),
    ]);
    const jobs = await store.list({}, { limit: 9 });
    expect(Object.fromEntries(jobs.map(({ id, queue }) => [id, queue]))).toEqual({
      ...{ plain: 'default', ready: 'gpu', later: 'host:a', dead: 'gpu', done: 'default' },
    });
    expect((await store.schedules()).map(({ name, job }) => [name, job.queue])).toEqual([
      ['other', undefined],
      ['ticks', 'tpu'],
    ]);
    const ofQueue = (queue: string, state: State) => ({ queue, state, jobs: 1 });
    expect(new Set(await store.counts())).toEqual(
      new Set([
        ...[ofQueue('default', 'pending'), ofQueue('default', 'completed'), ofQueue('gpu', 'pending')],
        ...[ofQueue('gpu', 'dead'), ofQueue('host:a', 'pending')],
      ]),
    );
    await store.close();
    const again = await openPostgres(schema.url, {}, { QUEUECTL_HOME: home });
    expect(again.notes).toEqual([]);
    await again.store.close();
  });
  await schema.drop();
});
