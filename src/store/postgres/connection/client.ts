import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { QueueError } from '../../../core/errors.ts';
import type { PostgresLocation } from './location.ts';
import { passwordFromFile } from './password-file.ts';
import { checkSocketOwner } from './socket-owner.ts';

export type Client = pg.Client;

/** How long commands wait by default for a server that cannot be reached. */
export const DEFAULT_STORE_TIMEOUT_MS = 30_000;
/** A connection waits this long for an answer, even if its command waits longer for a server that cannot be reached. */
const LONGEST_ANSWER_MS = 28_000;
/** A command may wait only briefly for a server that cannot be reached. Its statements still have this much time. */
const SHORTEST_ANSWER_MS = 5000;
/** A new connection has this much time, even if its command does not wait for a server that cannot be reached. */
export const SHORTEST_CONNECT_MS = 1000;

/** Returns how long a connection waits for an answer, so that its command does not wait longer than `waitMs`. */
export const answerMsFor = (waitMs: number): number =>
  Math.max(SHORTEST_ANSWER_MS, Math.min(waitMs, LONGEST_ANSWER_MS));
/** Returns when the server ends a statement. This is before the client gives up, so that the client learns what happened. */
export const statementMsFor = (answerMs: number): number => Math.floor(answerMs * 0.9);

export interface Timeouts {
  /** The connection must be open after this time. */
  connectMs?: number;
  /** A connection without an answer for this long is dropped, because the network may be cut. */
  answerMs?: number;
}

/** The object ids of the types whose values are converted here. */
const BOOLEAN = 16;
const BYTES = 17;
const BIGINT = 20;
const NUMERIC = 1700;

const toNumber = (text: string): number => Number(text);
/** Converts values as the other store returns them: truth values are 1 and 0, and bytes are a Uint8Array. */
const PARSERS: Record<number, (text: string) => unknown> = {
  [BOOLEAN]: (text) => (text === 't' ? 1 : 0),
  [BYTES]: (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex')),
  [BIGINT]: toNumber,
  [NUMERIC]: toNumber,
};
/** Says how the values of results are read. */
export const TYPES = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    PARSERS[oid] ?? pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/** Servers without TLS refuse it with this message of the driver. */
const NO_TLS = 'The server does not support SSL connections';
/** The locations that were seen to have no TLS, so that later connections do not ask again. */
const withoutTls = new WeakSet<PostgresLocation>();

/** Opens one connection. A mode that prefers TLS connects without it if the server has none. */
export async function connectClient(location: PostgresLocation, timeouts: Timeouts = {}): Promise<Client> {
  const { tls } = location;
  const mayDoWithout = tls === 'prefer' || tls === 'allow';
  const usesTls = tls !== 'disable' && !location.host.startsWith('/') && !withoutTls.has(location);
  try {
    return await openClient(location, usesTls ? tlsOptions(location) : false, timeouts);
  } catch (error) {
    if (!(usesTls && mayDoWithout && (error as Error).message === NO_TLS)) throw error;
    withoutTls.add(location);
    return openClient(location, false, timeouts);
  }
}

async function openClient(
  location: PostgresLocation,
  ssl: ConnectionOptions | false,
  { connectMs = location.connectTimeoutMs, answerMs = LONGEST_ANSWER_MS }: Timeouts,
): Promise<Client> {
  const limitMs = Math.min(location.connectTimeoutMs, Math.max(connectMs, SHORTEST_CONNECT_MS));
  const socket = checkSocketOwner(location);
  const checkSocket = (): void => {
    // This reads as a lost connection, so that the next try begins.
    if (checkSocketOwner(location) !== socket)
      throw new Error('Connection terminated: the socket was replaced');
  };
  const client = new pg.Client({
    ...{ host: location.host, port: location.port, user: location.user, database: location.database },
    // A function keeps the password out of everything that prints the options.
    password: () => {
      checkSocket();
      return location.password ?? passwordFromFile(location) ?? '';
    },
    ssl,
    application_name: location.applicationName,
    // The driver takes 0 for no limit.
    connectionTimeoutMillis: Number.isFinite(limitMs) ? limitMs : 0,
    query_timeout: answerMs,
    keepAlive: true,
    types: TYPES,
    // Statements are sent without waiting for the answers to those before them.
    pipeline: true,
  } as pg.ClientConfig);
  // Without a listener, the end of an idle connection would end the process. The next statement reports it.
  client.on('error', () => {});
  try {
    await client.connect();
    checkSocket();
  } catch (error) {
    client.end().catch(() => {});
    throw error;
  }
  return client;
}

function tlsOptions(location: PostgresLocation): ConnectionOptions {
  const { tls, rootCertificate, certificate, key } = location;
  const options: ConnectionOptions = {};
  if (rootCertificate !== null) options.ca = readTlsFile('sslrootcert', rootCertificate);
  if (certificate !== null) options.cert = readTlsFile('sslcert', certificate);
  if (key !== null) options.key = readTlsFile('sslkey', key);
  // As in PostgreSQL's own library, a root certificate makes `require` check the server's certificate.
  const checks =
    tls === 'verify-full' || tls === 'verify-ca' || (tls === 'require' && rootCertificate !== null);
  options.rejectUnauthorized = checks;
  if (checks && tls !== 'verify-full') options.checkServerIdentity = () => undefined;
  return options;
}

function readTlsFile(parameter: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new QueueError(
      'store-unavailable',
      `cannot read the file of ${parameter}: ${(error as Error).message}`,
      `check ${parameter} in the URL, or PG${parameter.toUpperCase()}`,
      { cause: error },
    );
  }
}

/** The types of the driver lack the socket. */
const socketOf = (client: Client): Socket =>
  (client as Client & { connection: { stream: Socket } }).connection.stream;

/** Sends the statements of this moment in one write, so that the server wakes up once for all of them. */
export function sendTogether(client: Client): void {
  const socket = socketOf(client);
  socket.cork();
  process.nextTick(() => socket.uncork());
}

/** The server may take this long to end a connection. */
const END_MS = 1000;

/** Ends a connection. Drops it if the server does not end it, too, because it may have stopped. */
export async function endClient(client: Client): Promise<void> {
  const stream = socketOf(client);
  const timer = setTimeout(() => stream.destroy(), END_MS);
  await client.end().catch(() => {});
  clearTimeout(timer);
}

/** Makes a connection keep the process running, or not. The types of the driver lack these methods. */
export function keepRunning(client: Client, keepsRunning: boolean): void {
  const { ref, unref } = client as Client & Record<'ref' | 'unref', () => void>;
  (keepsRunning ? ref : unref).call(client);
}
