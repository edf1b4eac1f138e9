import { expect, test } from 'bun:test';
import { QueueError } from '../../src/core/errors.ts';
import { readLocation } from '../../src/store/postgres/connection/location.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { makeTempSchema, onServer, postgresUrl } from '../support/postgres.ts';
import { inTempDir } from '../support/temp-dir.ts';

/** Returns the error of reading a location. */
function refusalOf(location: string, environment: NodeJS.ProcessEnv = {}): QueueError {
  try {
    readLocation(location, environment);
  } catch (error) {
    expect(error).toBeInstanceOf(QueueError);
    return error as QueueError;
  }
  throw new Error('the location was not refused');
}

test.each([
  'postgres:app:secretpw@127.0.0.1/app',
  'postgres:/app:secretpw@127.0.0.1/app',
  'postgresql:app@127.0.0.1/secretpw',
  'postgres://app:77?secretpw@127.0.0.1/app',
  'postgres://app:77?secretpw=1@127.0.0.1/app',
  'postgres://app:77?a b secretpw',
  'postgres://app:77/secretpw@127.0.0.1/app',
  'postgres://app:77#secretpw@127.0.0.1/app',
  'postgres://app:secretpw%zz@127.0.0.1/app',
  'postgres://app:x/secretpw@127.0.0.1/app',
])('the refusal of %s shows no part of it', (location) => {
  const { message, hint } = refusalOf(location);
  expect(message).toStartWith('invalid PostgreSQL URL: ');
  expect(`${message} ${hint}`).not.toMatch(/secretpw|127/);
});

test('a URL may contain encoded characters, and a URL with an @ as a parameter', () => {
  const location = readLocation('postgres://app:a%2Fb%23%3F@h/d%40e?listen=postgres://u@other/db', {});
  expect(location).toMatchObject({
    ...{ password: 'a/b#?', database: 'd@e', host: 'h', listen: 'postgres://u@other/db' },
  });
});

test('a wrong value is reported with the parameter or the variable that has it', () => {
  const url = 'postgres://app@h/d';
  expect(refusalOf(url, { PGPORT: 'abc' }).message).toBe("invalid environment variable: PGPORT is 'abc'");
  expect(refusalOf(url, { PGSSLMODE: 'no' }).message).toBe("invalid environment variable: PGSSLMODE is 'no'");
  expect(refusalOf(`${url}?port=abc`, { PGPORT: '1' }).message).toBe("invalid PostgreSQL URL: port is 'abc'");
  // In the comments of `db migrate --sql`, the rest of the name would be a statement.
  for (const end of ['%0A', '%0D', '%00'])
    expect(refusalOf(`${url}?schema=a${end}SELECT%201`).message).toContain('is not a name for a schema');
  expect(refusalOf(`${url}?prepared=no`).message).toBe("invalid PostgreSQL URL: prepared is 'no'");
});

test('a connect timeout of 0 means no limit', async () => {
  expect(readLocation('postgres://app@h/d', { PGCONNECT_TIMEOUT: '0' }).connectTimeoutMs).toBe(
    Number.POSITIVE_INFINITY,
  );
  expect(
    await onServer(`${await postgresUrl()}?connect_timeout=0`, (client) => client.query('SELECT 1')),
  ).toMatchObject({ rowCount: 1 });
});

test('the errors about a missing queue and about its identity have hints that work', () =>
  inTempDir(async (home) => {
    const schema = await makeTempSchema();
    const environment = { QUEUECTL_HOME: home };
    const hintOf = (ifMissing: 'refuse' | 'create') =>
      openPostgres(schema.url, { ifMissing }, environment).catch((error: QueueError) => error.hint);
    expect(await hintOf('refuse')).toContain('?schema=');
    await (await openPostgres(schema.url, {}, environment)).store.close();
    const damage = `UPDATE ${schema.name}.meta SET value = 'x' WHERE key = 'epoch'`;
    await onServer(schema.url, (client) => client.query(damage));
    expect(await hintOf('create')).toContain('pg_restore, and then run queuectl db renew');
    await schema.drop();
  }));
