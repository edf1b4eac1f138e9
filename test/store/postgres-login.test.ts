import { expect, test } from 'bun:test';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import type { QueueError } from '../../src/core/errors.ts';
import { connect } from '../../src/store/postgres/connection/connection.ts';
import { readLocation } from '../../src/store/postgres/connection/location.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { makeTempSchema, onServer, postgresUrl } from '../support/postgres.ts';
import { inTempDir } from '../support/temp-dir.ts';

const NAME = `login_${process.pid}`;
const [CLOSED, FORBIDDEN, NO_LOGIN] = [`${NAME}_closed`, `${NAME}_forbidden`, `${NAME}_no_login`];

const run = (...statements: string[]): Promise<void> =>
  postgresUrl().then((url) =>
    onServer(url, async (client) => {
      for (const one of statements) await client.query(one);
    }),
  );

/** Runs `work` with a role that has the password `right`, one that may not log in, and two databases that refuse the role. */
async function withRoles(work: () => Promise<void>): Promise<void> {
  await run(
    `CREATE ROLE ${NAME} LOGIN PASSWORD 'right'`,
    `CREATE ROLE ${NO_LOGIN} NOLOGIN PASSWORD 'right'`,
    `CREATE DATABASE ${CLOSED} ALLOW_CONNECTIONS false`,
    `CREATE DATABASE ${FORBIDDEN}`,
    `REVOKE CONNECT ON DATABASE ${FORBIDDEN} FROM PUBLIC`,
  );
  try {
    await work();
  } finally {
    await run(
      ...[CLOSED, FORBIDDEN].map((one) => `DROP DATABASE ${one}`),
      ...[NAME, NO_LOGIN].map((one) => `DROP ROLE ${one}`),
    );
  }
}

/** Starts a proxy before the server that counts the connections. */
async function startCounter(server: string) {
  const { port, hostname } = new URL(server);
  const sockets = new Set<Socket>();
  let connections = 0;
  const proxy = createServer((client) => {
    connections++;
    const upstream = connectSocket(Number(port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    connections: () => connections,
    close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}

const REFUSALS: [what: string, role: string, database: string, message: string][] = [
  ['a wrong password', `${NAME}:wrong`, 'postgres', 'refused the password of the role'],
  ['a role that may not log in', `${NO_LOGIN}:right`, 'postgres', 'does not let the role'],
  ['a missing database', `${NAME}:right`, 'nowhere', "has no database 'nowhere'"],
  ['a database that the role may not use', `${NAME}:right`, FORBIDDEN, 'to the database'],
  ['a database without connections', `${NAME}:right`, CLOSED, 'does not accept connections to the database'],
];

test('the refusal of a login is final: each command logs in once', () =>
  withRoles(async () => {
    for (const [what, role, database, message] of REFUSALS) {
      const proxy = await startCounter(await postgresUrl());
      const url = `postgres://${role}@127.0.0.1:${proxy.port}/${database}?sslmode=disable`;
      // A command that waited would not end before the timeout of the test.
      const storeTimeoutMs = 3_600_000;
      const error = await inTempDir((home) =>
        openPostgres(url, { storeTimeoutMs }, { QUEUECTL_HOME: home }).catch((reason: unknown) => reason),
      );
      expect({ what, error }).toMatchObject({ what, error: { code: 'store-unavailable' } });
      expect((error as QueueError).message).toContain(message);
      expect({ what, connections: proxy.connections() }).toEqual({ what, connections: 1 });
      proxy.close();
    }
  }));

test('a refused login of a process that was logged in before is an outage', () =>
  withRoles(async () => {
    const schema = await makeTempSchema();
    const url = new URL(schema.url);
    [url.username, url.password] = [NAME, 'right'];
    const db = connect(readLocation(url.href, {}), { actor: null, now: Date.now, waitMs: 3_600_000 });
    await db.withClient((client) => client.query('SELECT 1'));
    await run(`ALTER ROLE ${NAME} PASSWORD 'other'`);
    // A failed use closes the connection.
    const endIt = db.withClient(async () => Promise.reject(new TypeError('stop')));
    expect(await endIt.catch((reason: unknown) => reason)).toBeInstanceOf(TypeError);
    const error = await db
      .withClient((client) => client.query('SELECT 1'))
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'store-unreachable' });
    expect((error as QueueError).message).toContain('refused the password');
    await run(`ALTER ROLE ${NAME} PASSWORD 'right'`);
    await db.withClient((client) => client.query('SELECT 1'));
    await db.close();
  }));
