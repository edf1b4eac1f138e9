import { QueueError } from '../../core/errors.ts';
import type { SqlClient } from '../../core/wire/sql-client.ts';
import type { JobStore } from '../contract/jobs.ts';
import { insertJobs } from '../parts/insert.ts';
import type { Engine } from '../steps.ts';
import { type Client, TYPES } from './connection/client.ts';
import type { ServerConnection } from './connection/connection.ts';
import { isForeignKeyViolation, isMissing, isNoTransaction, isNotPermitted } from './connection/failures.ts';
import { quoteName } from './connection/location.ts';
import { type Transaction, transactionOn } from './connection/transaction.ts';
import { runSteps } from './engine.ts';
import { parseVersion, refuseUnsupported } from './schema-version.ts';
import { channelOf, sendWakeAtCommit } from './sql/wakeups.ts';

const SAVEPOINT = 'queuectl_enqueue';
/** A queue may be removed after its number was read. Then the insert is tried again, at most this many times. */
const MOST_TRIES = 3;

/**
 * Returns the method `insertOn` of the store. Its function runs between two savepoints of the caller's transaction. It restores the
 * only setting that it changes, the search path. So after an error, the transaction is as it was before.
 */
export const insertionOn =
  (db: ServerConnection, engine: Engine) =>
  (client: SqlClient): JobStore['insert'] =>
  (...values: Parameters<JobStore['insert']>) =>
    inTurn(client, async () => {
      for (let tries = 1; ; tries++) {
        try {
          return await insertOnce(db, engine, client, values);
        } catch (error) {
          if (!isForeignKeyViolation(error) || tries === MOST_TRIES) throw error;
        }
      }
    }) as Promise<never[]>;

async function insertOnce(
  db: ServerConnection,
  engine: Engine,
  client: SqlClient,
  values: Parameters<JobStore['insert']>,
) {
  const { actor, now } = db;
  const tx = transactionOn(withOwnTypes(client), {
    ...{ actor, now, prepared: false },
    host: () => ['', ''],
    directory: () => null,
  });
  await begin(tx);
  try {
    const searchPath = await enterSchema(tx, db);
    const added = await runSteps(tx, insertJobs(engine, ...values));
    // The notification is delivered when the caller commits.
    await tx.run(sendWakeAtCommit, channelOf(db.identity.store));
    await tx.run("SELECT set_config('search_path', $1, true)", searchPath);
    await tx.run(`RELEASE SAVEPOINT ${SAVEPOINT}`);
    return added;
  } catch (error) {
    await rollBack(tx);
    throw error;
  }
}

/** Returns the client as the store uses it: values are read in the way of the store, whatever types the caller has set. */
function withOwnTypes(client: SqlClient): Pick<Client, 'query'> {
  const query = (given: { text: string; values?: unknown[] }) => client.query({ ...given, types: TYPES });
  return { query: query as Client['query'] };
}

async function begin(tx: Transaction): Promise<void> {
  try {
    await tx.run(`SAVEPOINT ${SAVEPOINT}`);
  } catch (error) {
    if (!isNoTransaction(error)) throw error;
    throw new QueueError(
      'wrong-state',
      'the client has not begun a transaction',
      "run client.query('BEGIN') first. A pool cannot be used, but a client of it",
    );
  }
}

/**
 * Sets the search path to the schema of the queue, and returns the one of the caller. Throws if the client is connected to another
 * database. Reading `meta` also keeps a migration from starting before the caller's transaction has ended.
 */
async function enterSchema(tx: Transaction, { location, identity }: ServerConnection): Promise<string> {
  const schema = quoteName(location.schema);
  try {
    const before = await tx.get<{ path: string }>("SELECT current_setting('search_path') AS path");
    const found = await tx.all<{ key: string; value: string }>(
      `SELECT key, value FROM ${schema}.meta WHERE key IN ('store', 'schema')`,
    );
    const meta = new Map(found.map(({ key, value }) => [key, value]));
    if (meta.get('store') !== identity.store) throw otherDatabase(location.name);
    refuseUnsupported(parseVersion(meta.get('schema')), location);
    await tx.run("SELECT set_config('search_path', $1, true)", `${schema}, pg_temp`);
    return before!.path;
  } catch (error) {
    if (isMissing(error)) throw otherDatabase(location.name);
    if (isNotPermitted(error))
      throw new QueueError(
        'not-permitted',
        `the role of the client may not use the schema '${location.schema}' of the queue`,
        'let an administrator grant it the rights in the output of queuectl db migrate --sql',
      );
    throw error;
  }
}

function otherDatabase(name: string): QueueError {
  return new QueueError(
    'wrong-state',
    `the client is not connected to the database of the queue (${name})`,
    'connect the client to the same database as the queue',
  );
}

async function rollBack(tx: Transaction): Promise<void> {
  try {
    await tx.run(`ROLLBACK TO SAVEPOINT ${SAVEPOINT}`);
    await tx.run(`RELEASE SAVEPOINT ${SAVEPOINT}`);
  } catch {
    // The connection is lost, and the transaction with it. The first error is thrown.
  }
}

/** The last call on each client. */
const lastCalls = new WeakMap<SqlClient, Promise<unknown>>();

/** Runs `work` after all earlier calls on the same client, because the statements of two calls must not mix. */
function inTurn<T>(client: SqlClient, work: () => Promise<T>): Promise<T> {
  const turn = (lastCalls.get(client) ?? Promise.resolve()).then(work, work);
  lastCalls.set(client, turn);
  return turn;
}
