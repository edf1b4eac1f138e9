import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import type { PostgresLocation } from './location.ts';
import { passwordFromFile } from './password-file.ts';

export type Client = pg.Client;

/** The server ends a statement that runs for this long. */
export const STATEMENT_TIMEOUT_MS = 30_000;
/** A connection without an answer for this long is dropped, because the network may be cut. */
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5000;

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
const TYPES = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    PARSERS[oid] ?? pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/** Servers without TLS refuse it with this message of the driver. */
const NO_TLS = 'The server does not support SSL connections';
/** The locations that were seen to have no TLS, so that later connections do not ask again. */
const withoutTls = new WeakSet<PostgresLocation>();

/** Opens one connection. A mode that prefers TLS connects without it if the server has none. */
export async function connectClient(location: PostgresLocation): Promise<Client> {
  const { tls } = location;
  const mayDoWithout = tls === 'prefer' || tls === 'allow';
  const usesTls = tls !== 'disable' && !location.host.startsWith('/') && !withoutTls.has(location);
  try {
    return await openClient(location, usesTls ? tlsOptions(location) : false);
  } catch (error) {
    if (!(usesTls && mayDoWithout && (error as Error).message === NO_TLS)) throw error;
    withoutTls.add(location);
    return openClient(location, false);
  }
}

async function openClient(location: PostgresLocation, ssl: ConnectionOptions | false): Promise<Client> {
  const client = new pg.Client({
    ...{ host: location.host, port: location.port, user: location.user, database: location.database },
    // A function keeps the password out of everything that prints the options.
    password: () => location.password ?? passwordFromFile(location) ?? '',
    ssl,
    application_name: location.applicationName,
    connectionTimeoutMillis: location.connectTimeoutMs,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    types: TYPES,
    // Statements are sent without waiting for the answers to those before them.
    pipeline: true,
  } as pg.ClientConfig);
  // Without a listener, the end of an idle connection would end the process. The next statement reports it.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    client.end().catch(() => {});
    throw error;
  }
  return client;
}

function tlsOptions(location: PostgresLocation): ConnectionOptions {
  const { tls, rootCertificate, certificate, key } = location;
  const options: ConnectionOptions = {};
  if (rootCertificate !== null) options.ca = readFileSync(rootCertificate);
  if (certificate !== null) options.cert = readFileSync(certificate);
  if (key !== null) options.key = readFileSync(key);
  // As in PostgreSQL's own library, a root certificate makes `require` check the server's certificate.
  const checks =
    tls === 'verify-full' || tls === 'verify-ca' || (tls === 'require' && rootCertificate !== null);
  options.rejectUnauthorized = checks;
  if (checks && tls !== 'verify-full') options.checkServerIdentity = () => undefined;
  return options;
}

/** Makes a connection keep the process running, or not. The types of the driver lack these methods. */
export function keepRunning(client: Client, keepsRunning: boolean): void {
  const { ref, unref } = client as Client & Record<'ref' | 'unref', () => void>;
  (keepsRunning ? ref : unref).call(client);
}
