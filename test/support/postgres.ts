import { afterAll } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { knownHost } from '../../src/state/host.ts';
import { type Client, connectClient, endClient } from '../../src/store/postgres/connection/client.ts';
import { connect, type ServerConnection } from '../../src/store/postgres/connection/connection.ts';
import { readLocation } from '../../src/store/postgres/connection/location.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { OpenedForTest } from '../conformance/topic.ts';
import { asStored, HOST, HOST_ID, ownBoots } from './jobs.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { makeTempDir } from './temp-dir.ts';

let ownServer: Promise<PostgresServer> | null = null;
let schemas = 0;

/** A server of this process is stopped after its tests, because `bun test` ends without an event. */
afterAll(async () => {
  const server = await ownServer;
  ownServer = null;
  await server?.stop();
});

/** Returns the URL of the server of this run of tests. Starts one for this process if a test file is run alone. */
export async function postgresUrl(): Promise<string> {
  const given = process.env.QUEUECTL_TEST_POSTGRES;
  if (given) return given;
  ownServer ??= startPostgres();
  return (await ownServer).url;
}

/** A schema of its own in the server of the tests. */
export interface TempSchema {
  /** The URL of a queue in this schema, which does not exist yet. */
  url: string;
  name: string;
  /** Removes the schema with everything in it. */
  drop(): Promise<void>;
}

export const makeTempSchema = async (): Promise<TempSchema> => nameTempSchema(await postgresUrl());

/** Returns a new name for a schema on this server. */
export function nameTempSchema(server: string): TempSchema {
  const name = `test_${process.pid}_${++schemas}`;
  const url = new URL(server);
  url.searchParams.set('schema', name);
  const drop = () => onServer(url.href, (client) => client.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`));
  return { url: url.href, name, drop: async () => void (await drop()) };
}

/** Runs `work` on a connection of its own, which can read what a store does not return. */
export async function onServer<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connectClient(readLocation(url, {}));
  try {
    return await work(client);
  } finally {
    // The end fails if the server ends the connection first.
    await endClient(client);
  }
}

/** Opens a new PostgreSQL store in a schema of its own. */
export async function openTempPostgres(): Promise<OpenedForTest & { url: string }> {
  const home = makeTempDir();
  const schema = await makeTempSchema();
  const open = async (actor: string | null = null, host: string = HOST_ID): Promise<Store> => {
    const environment = { QUEUECTL_HOME: join(home.path, host) };
    const { store, stateDirectory } = await openPostgres(schema.url, { actor }, environment);
    writeFileSync(stateDirectory.host, host);
    ownBoots.set(host, knownHost(stateDirectory)!.boot);
    return store;
  };
  const cleanup = async (): Promise<void> => {
    await schema.drop();
    home.remove();
  };
  return { store: await open(), reopen: open, cleanup, url: schema.url };
}

/** Runs a test on a new store, with a connection to its schema that can run any statement. */
export async function withPostgres(
  work: (store: Store, connection: ServerConnection) => Promise<void>,
): Promise<void> {
  const { store, url, cleanup } = await openTempPostgres();
  const connection = connect(readLocation(url, {}), { actor: null, now: Date.now });
  connection.identifyHost(() => asStored(HOST));
  try {
    await work(store, connection);
  } finally {
    await connection.close();
    await store.close();
    await cleanup();
  }
}
