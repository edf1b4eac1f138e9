import { expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { QueueError } from '../../src/core/errors.ts';
import { readLocation } from '../../src/store/postgres/connection/location.ts';
import { passwordFromFile } from '../../src/store/postgres/connection/password-file.ts';
import { openPostgres, peekPostgres } from '../../src/store/postgres/open.ts';
import { jobSpec, NOW } from '../support/jobs.ts';
import { makeTempSchema, onServer, type TempSchema } from '../support/postgres.ts';
import { inTempDir } from '../support/temp-dir.ts';

const PASSWORD = 'geheim-4711';
const NO_WAIT = { storeTimeoutMs: 0 };

/** Returns the error of opening a URL. Fails if it has several lines, shows the password, or creates the schema. */
async function refusal(schema: TempSchema, change: (url: URL) => void): Promise<QueueError> {
  const url = new URL(schema.url);
  change(url);
  const error = await inTempDir((home) =>
    openPostgres(url.href, NO_WAIT, { QUEUECTL_HOME: home }).catch((reason: unknown) => reason),
  );
  expect(error).toBeInstanceOf(QueueError);
  const { message, hint, exitCode } = error as QueueError;
  expect(exitCode).toBe(5);
  expect(`${message}${hint}`).not.toContain(PASSWORD);
  expect(message).not.toContain('\n');
  expect(hint).not.toBeNull();
  const found = await onServer(schema.url, (client) =>
    client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema.name]),
  );
  expect(found.rows).toEqual([]);
  return error as QueueError;
}

const REFUSED: Record<string, [change: (url: URL) => void, message: RegExp]> = {
  'a wrong password': [
    (url) => {
      url.username = 'nobody';
      url.password = PASSWORD;
    },
    /refused the password of the role 'nobody'/,
  ],
  'a port without a server': [
    (url) => {
      url.port = '1';
      url.password = PASSWORD;
    },
    /127\.0\.0\.1:1 does not accept connections/,
  ],
  'an unknown host': [
    (url) => {
      url.hostname = 'host.invalid';
    },
    /host\.invalid:\d+ was not found|cannot be looked up/,
  ],
  'a missing database': [
    (url) => {
      url.pathname = '/nowhere';
    },
    /no database 'nowhere'/,
  ],
  'a server without TLS if it is required': [
    (url) => url.searchParams.set('sslmode', 'require'),
    /no TLS connection/,
  ],
  'a missing root certificate': [
    (url) => url.searchParams.set('sslrootcert', '/nope/root.crt'),
    /^cannot read the file of sslrootcert: .*\/nope\/root\.crt/,
  ],
  'a missing socket': [
    (url) => url.searchParams.set('host', '/nope'),
    /socket \/nope\/\.s\.PGSQL\.\d+ does not run: there is no socket/,
  ],
  'an unknown parameter': [(url) => url.searchParams.set('scheme', 'x'), /unknown parameter 'scheme'/],
  'a read-only database': [
    (url) => {
      url.pathname = '/read_only';
    },
    /read-only/,
  ],
};

for (const [name, [change, message]] of Object.entries(REFUSED))
  test(`${name} is refused in one line, and nothing is created`, async () => {
    const schema = await makeTempSchema();
    if (name === 'a read-only database')
      await onServer(schema.url, async (client) => {
        await client.query('DROP DATABASE IF EXISTS read_only');
        await client.query('CREATE DATABASE read_only');
        await client.query('ALTER DATABASE read_only SET default_transaction_read_only = on');
      });
    expect((await refusal(schema, change)).message).toMatch(message);
  });

test('a schema with tables of another program is refused', async () => {
  const schema = await makeTempSchema();
  const make = `CREATE SCHEMA ${schema.name} CREATE TABLE thing (number int)`;
  await onServer(schema.url, (client) => client.query(make));
  const error = await inTempDir((home) =>
    openPostgres(schema.url, {}, { QUEUECTL_HOME: home }).catch((reason: unknown) => reason),
  );
  expect(error).toMatchObject({ code: 'not-a-database' });
  await schema.drop();
});

test('a store with a newer schema is refused at once, and while it is open', () =>
  inTempDir(async (home) => {
    const schema = await makeTempSchema();
    const open = () => openPostgres(schema.url, {}, { QUEUECTL_HOME: home });
    const { store } = await open();
    await onServer(schema.url, (client) =>
      client.query(`UPDATE ${schema.name}.meta SET value = '999' WHERE key = 'schema'`),
    );
    const newer = { code: 'newer-schema', exitCode: 5 };
    expect(await open().catch((reason: unknown) => reason)).toMatchObject(newer);
    expect(await store.insert([jobSpec('a')], NOW).catch((reason: unknown) => reason)).toMatchObject(newer);
    expect(await store.check().catch((reason: unknown) => reason)).toMatchObject(newer);
    expect(await store.counts()).toEqual([]);
    await store.close();
    await schema.drop();
  }));

test('a store from before the first release is refused, with a way to keep its jobs', () =>
  inTempDir(async (home) => {
    const schema = await makeTempSchema();
    const open = () => openPostgres(schema.url, {}, { QUEUECTL_HOME: home });
    await (await open()).store.close();
    await onServer(schema.url, (client) =>
      client.query(`UPDATE ${schema.name}.meta SET value = '1 1' WHERE key = 'schema'`),
    );
    expect(await open().catch((reason: unknown) => reason)).toMatchObject({
      code: 'older-schema',
      hint: expect.stringContaining('queuectl export FILE'),
    });
    await schema.drop();
  }));

test('a location comes from the URL, then from the variables of PostgreSQL', () => {
  const environment = {
    PGHOST: 'one',
    PGPORT: '6000',
    PGUSER: 'me',
    PGPASSWORD: PASSWORD,
    PGSSLMODE: 'disable',
  };
  const found = readLocation('postgres:///data', environment);
  expect(found).toMatchObject({
    ...{ host: 'one', port: 6000, user: 'me', password: PASSWORD, database: 'data', schema: 'queuectl' },
    ...{ tls: 'disable', prepared: true, listen: null, name: 'postgres://me@one:6000/data?schema=queuectl' },
  });
  const url = `postgresql://you:${PASSWORD}@two/db?schema=s&prepared=off&sslmode=verify-full`;
  expect(readLocation(url, environment)).toMatchObject({
    ...{ host: 'two', user: 'you', database: 'db', schema: 's', prepared: false, tls: 'verify-full' },
    name: 'postgres://you@two:6000/db?schema=s',
  });
  expect(readLocation('postgres:///data', { PGHOSTADDR: '192.0.2.1' }).host).toBe('192.0.2.1');
  // Without a host, no server is looked for by TCP, and on Linux none in /tmp.
  expect(readLocation('postgres:///data', {}).host).toMatch(/^\//);
  expect(readLocation('postgres://a@/db?host=/run/pg', {}).name).toBe(
    'postgres://a@/db?host=/run/pg&schema=queuectl',
  );
});

test('a password comes from a password file that only its owner can read', () =>
  inTempDir((directory) => {
    const file = join(directory, 'pgpass');
    writeFileSync(file, `# comment\nother:*:*:*:no\nhost:5432:*:me:a\\:b\\\\c\n`, { mode: 0o600 });
    const location = readLocation('postgres://me@host/db', { PGPASSFILE: file });
    expect(passwordFromFile(location)).toBe('a:b\\c');
    expect(passwordFromFile({ ...location, user: 'you' })).toBeNull();
    chmodSync(file, 0o644);
    expect(passwordFromFile(location)).toBeNull();
  }));

test('peeking at a schema without a queue finds no store and creates nothing', () =>
  inTempDir(async (home) => {
    const schema = await makeTempSchema();
    expect(await peekPostgres(schema.url, {})).toBeNull();
    const { store } = await openPostgres(schema.url, {}, { QUEUECTL_HOME: home });
    const peeked = await peekPostgres(schema.url, {});
    expect(peeked?.epoch).toBe(store.epoch);
    await peeked?.close();
    await store.close();
    await schema.drop();
  }));

test('a state directory that cannot be created is reported with its path', () =>
  inTempDir(async (home) => {
    const schema = await makeTempSchema();
    const file = join(home, 'file');
    writeFileSync(file, '');
    for (const parent of [file, '/proc/nope']) {
      const environment = { QUEUECTL_HOME: join(parent, 'home') };
      const error = await openPostgres(schema.url, NO_WAIT, environment).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'not-permitted' });
      expect((error as QueueError).message).toStartWith('cannot create the state directory: ');
      expect((error as QueueError).message).toContain(parent);
    }
    await schema.drop();
  }));
