import { expect, test } from 'bun:test';
import type { QueueError } from '../../src/core/errors.ts';
import {
  answerMsFor,
  connectClient,
  DEFAULT_STORE_TIMEOUT_MS,
  statementMsFor,
} from '../../src/store/postgres/connection/client.ts';
import { connect, type ServerConnection } from '../../src/store/postgres/connection/connection.ts';
import {
  isDisconnection,
  mayComeBack,
  translateError,
} from '../../src/store/postgres/connection/failures.ts';
import { readLocation } from '../../src/store/postgres/connection/location.ts';
import { type CommitFault, startCuttingProxy } from '../support/cutting-proxy.ts';
import { jobSpec, NOW } from '../support/jobs.ts';
import { onServer, openTempPostgres, withPostgres } from '../support/postgres.ts';

const connectTo = (url: string, waitMs = 30_000): ServerConnection =>
  connect(readLocation(url, {}), { actor: null, now: Date.now, waitMs });

const addSetting = (db: ServerConnection, key: string): Promise<number> =>
  db.write('set', (tx) => tx.run("INSERT INTO setting VALUES ($1, 'x')", key));

async function withProxy(
  work: (
    db: ServerConnection,
    proxy: Awaited<ReturnType<typeof startCuttingProxy>>,
    url: string,
  ) => Promise<void>,
): Promise<void> {
  const { store, url, cleanup } = await openTempPostgres();
  const proxy = await startCuttingProxy(url);
  const db = connectTo(proxy.url);
  try {
    await work(db, proxy, url);
  } finally {
    await db.close();
    proxy.close();
    await store.close();
    await cleanup();
  }
}

test.each<CommitFault>(['drop-answer', 'drop-commit'])('a write is applied once after %s', (fault) =>
  withProxy(async (db, proxy) => {
    for (let i = 0; i < 5; i++) {
      proxy.cutNext(fault);
      // A repeated insert of the same key would fail.
      expect(await addSetting(db, `${i}`)).toBe(1);
      expect(proxy.cuts()).toBe(i + 1);
    }
    expect(await db.read((tx) => tx.all('SELECT key FROM setting'))).toHaveLength(5);
  }),
);

test('a read and a write go on after the server has ended all connections', () =>
  withProxy(async (db, proxy) => {
    await addSetting(db, 'a');
    proxy.endConnections();
    expect(await db.read((tx) => tx.all('SELECT key FROM setting'))).toHaveLength(1);
    proxy.endConnections();
    await addSetting(db, 'b');
    expect(await db.read((tx) => tx.all('SELECT key FROM setting'))).toHaveLength(2);
  }));

test('a write whose backend is killed in the middle is repeated', () =>
  withProxy(async (db, _, url) => {
    let tries = 0;
    await db.write('set', async (tx) => {
      tries++;
      const { pid } = (await tx.get('SELECT pg_backend_pid() AS pid'))!;
      await tx.run("INSERT INTO setting VALUES ('a', 'x')");
      if (tries === 1)
        await onServer(url, (client) => client.query('SELECT pg_terminate_backend($1)', [pid]));
      await tx.run("INSERT INTO setting VALUES ('b', 'x')");
    });
    expect(tries).toBe(2);
    expect(await db.read((tx) => tx.all('SELECT key FROM setting'))).toHaveLength(2);
  }));

/** A worker waits only 1000 ms, and the server needs that long to notice a deadlock. */
test.each([30_000, 1000, 0])(
  'of two transactions in a deadlock, one is repeated, if calls wait %d ms',
  (waitMs) =>
    withPostgres(async (_, { location }) => {
      const db = connect(location, { actor: null, now: Date.now, waitMs });
      for (const key of ['a', 'b']) await addSetting(db, key);
      let tries = 0;
      let locked = 0;
      let release = (): void => {};
      const bothLocked = new Promise<void>((resolve) => {
        release = resolve;
      });
      const lockBoth = (first: string, second: string) =>
        db.write('set', async (tx) => {
          // The repeated transaction lets the other one end first, so that it cannot take its lock once more.
          if (++tries > 2) await Promise.race(calls);
          await tx.run("UPDATE setting SET value = value || '1' WHERE key = $1", first);
          if (++locked === 2) release();
          await bothLocked;
          await tx.run("UPDATE setting SET value = value || '1' WHERE key = $1", second);
        });
      const calls: Promise<void>[] = [lockBoth('a', 'b'), lockBoth('b', 'a')];
      await Promise.all(calls);
      expect(tries).toBe(3);
      const rows = await db.read((tx) => tx.all('SELECT value FROM setting'));
      expect(rows.map((row) => row.value)).toEqual(['x11', 'x11']);
      await db.close();
    }),
);

test.each(['40P01', '40001'])('%s is repeated once in any case, and then reported as a busy store', (state) =>
  withPostgres(async (_, { location }) => {
    const db = connect(location, { actor: null, now: Date.now, waitMs: 0 });
    let tries = 0;
    const failing = db.write('set', async (tx) => {
      tries++;
      await tx.run(`DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '${state}'; END $$`);
    });
    const error = await failing.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'store-busy', exitCode: 5 });
    expect((error as Error).message).toContain('other processes change the same jobs');
    expect(tries).toBe(2);
    await db.close();
  }),
);

test('an error that the work ignores is not committed as a success', () =>
  withPostgres(async (_, db) => {
    const ignoring = db.write('set', async (tx) => {
      await tx.run('SELECT 1 / 0').catch(() => {});
    });
    const error = await ignoring.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'internal' });
  }));

test('all statements of a read see one state', () =>
  withPostgres(async (store, db) => {
    await db.read(async (tx) => {
      const count = () => tx.all('SELECT 1 FROM job');
      expect(await count()).toEqual([]);
      await store.insert([jobSpec('a')], NOW);
      expect(await count()).toEqual([]);
    });
    expect(await store.counts()).toHaveLength(1);
  }));

test('a call fails with one line when the server stays away', async () => {
  const { store, url, cleanup } = await openTempPostgres();
  const proxy = await startCuttingProxy(url);
  const db = connectTo(proxy.url, 200);
  await addSetting(db, 'a');
  proxy.close();
  const error = await addSetting(db, 'b').catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'store-unreachable', exitCode: 5 });
  await db.close();
  await store.close();
  await cleanup();
});

test.each([
  ['PASSWORD', "PASSWORD 'other'", /refused the password of the role/],
  ['NOLOGIN', 'NOLOGIN', /does not let the role .* connect/],
])('a login that is refused later (%s) is an outage, but not when a store is opened', (_, change, message) =>
  withPostgres(async (_store, { location }) => {
    const user = `role_${location.schema}`;
    const admin = connect(location, { actor: null, now: Date.now });
    await admin.withClient((client) => client.query(`CREATE ROLE ${user} SUPERUSER LOGIN PASSWORD 'first'`));
    const role = { ...location, user, password: 'first' };
    const db = connect(role, { actor: null, now: Date.now, waitMs: 200 });
    await addSetting(db, 'a');
    await admin.withClient(async (client) => {
      await client.query(`ALTER ROLE ${user} ${change}`);
      await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [user]);
    });
    const later = await addSetting(db, 'b').catch((reason: unknown) => reason);
    expect(later).toMatchObject({ code: 'store-unreachable', message: expect.stringMatching(message) });
    const first = await connectClient(role).catch((reason: unknown) => reason);
    // A command does not wait for it.
    expect(mayComeBack(first)).toBe(false);
    expect(translateError(first, role)).toMatchObject({
      code: 'store-unavailable',
      message: expect.stringMatching(message),
    });
    await db.close();
    await admin.withClient((client) => client.query(`DROP ROLE ${user}`));
    await admin.close();
  }),
);

test('a call fails and a connection is closed although the server does not answer any more', () =>
  withProxy(async (_, proxy) => {
    const times = { waitMs: 200, answerMs: 300 };
    const db = connect(readLocation(proxy.url, {}), { actor: null, now: Date.now, ...times });
    // Two calls at once leave two connections behind. The next call uses one of them.
    await Promise.all([addSetting(db, 'a'), addSetting(db, 'b')]);
    proxy.freeze();
    const error = await addSetting(db, 'c').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'store-unreachable', exitCode: 5 });
    expect((error as Error).message).toContain('does not answer');
    await db.close();
  }));

test('a connection waits less for an answer than a command, and the server ends a statement before that', () => {
  expect(answerMsFor(DEFAULT_STORE_TIMEOUT_MS)).toBeLessThan(DEFAULT_STORE_TIMEOUT_MS);
  expect(answerMsFor(10_000)).toBe(10_000);
  // Nobody wants statements to fail because the server need not be waited for.
  expect(answerMsFor(0)).toBe(5000);
  for (const ms of [0, 10_000, DEFAULT_STORE_TIMEOUT_MS])
    expect(statementMsFor(answerMsFor(ms))).toBeLessThan(answerMsFor(ms));
});

/** Returns an error as the server, or a pooler, sends it. */
const sentError = (severity: string, message: string, code = '08P01'): Error =>
  Object.assign(new Error(message), { severity, code });

test('a protocol violation is reported, and only a lost connection is waited for', () =>
  withPostgres(async (_, db) => {
    let tries = 0;
    const failing = db.write('set', async (tx) => {
      tries++;
      await tx.run("DO $$ BEGIN RAISE EXCEPTION 'bind message' USING ERRCODE = '08P01'; END $$");
    });
    const error = await failing.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'store-unavailable', exitCode: 5 });
    expect((error as Error).message).toContain('refused: bind message');
    expect(tries).toBe(1);
  }));

test.each([
  ['ERROR', 'bind message supplies 2 parameters, but prepared statement "q1" requires 1', false],
  ['FATAL', 'no such database: app', false],
  ['FATAL', 'unsupported startup parameter: options', false],
  ['FATAL', 'server conn crashed?', true],
  ['FATAL', 'pgbouncer cannot connect to server', true],
  ['FATAL', 'query_wait_timeout', true],
])('%s: %s is taken for an outage: %p', (severity, message, isOutage) => {
  const error = sentError(severity, message);
  expect([isDisconnection(error), mayComeBack(error)]).toEqual([isOutage, isOutage]);
  const translated = translateError(error, readLocation('postgres://u@h/d', {})) as QueueError;
  expect(translated.code).toBe(isOutage ? 'store-unreachable' : 'store-unavailable');
  expect(translated.message).toContain(message);
});

test('rows are read in batches, as numbers, bytes and truth values of the file store', () =>
  withPostgres(async (_, db) => {
    await db.read(async (tx) => {
      const row = await tx.get(
        "SELECT 5::bigint AS a, sum(2::bigint) AS b, true AS c, '\\x00ff'::bytea AS d, 1.5::float8 AS e, NULL AS f",
      );
      expect(row).toEqual({ a: 5, b: 2, c: 1, d: Uint8Array.from([0, 255]), e: 1.5, f: null } as never);
      const numbers: unknown[] = [];
      for await (const { n } of tx.each('SELECT n FROM generate_series($1::int, $2::int) AS n', 1, 1200))
        numbers.push(n);
      expect(numbers).toEqual(Array.from({ length: 1200 }, (_, i) => i + 1));
    });
  }));
