import { crashPoint } from '../../../core/crash-point.ts';
import { QueueError } from '../../../core/errors.ts';
import type { HostBoot } from '../../../state/host.ts';
import type { SharedOutput } from '../../contract/shared-output.ts';
import type { Row, Value } from '../../row.ts';
import type { Store } from '../../store.ts';
import { parseVersion, refuseUnsupported } from '../schema-version.ts';
import { selectHead } from '../sql/fragments.ts';
import {
  answerMsFor,
  type Client,
  connectClient,
  DEFAULT_STORE_TIMEOUT_MS,
  SHORTEST_CONNECT_MS,
  sendTogether,
  statementMsFor,
} from './client.ts';
import { type BegunTransaction, commitResultOf, SELECT_BEGUN, unknownCommit } from './commit-result.ts';
import { prepareSession } from './direct.ts';
import { isConflict, isDisconnection } from './failures.ts';
import { type PostgresLocation, quoteName } from './location.ts';
import { Pool } from './pool.ts';
import { repeat } from './repeating.ts';
import { type Transaction, transactionOn } from './transaction.ts';

/** Calls of one process use at most this many connections at a time. */
const MOST_CONNECTIONS = 4;

/** The random names of a store, as they were read last. */
export interface StoreIdentity {
  /** Names the store for good. */
  store: string;
  epoch: string;
  origin: string | null;
}

/** A pool of connections to one schema. It writes only in short transactions. */
export interface ServerConnection {
  readonly location: PostgresLocation;
  readonly actor: string | null;
  readonly identity: StoreIdentity;
  now(): number;
  /**
   * Runs `work` in a transaction and commits it. Repeats `work` after a deadlock, or after the connection was lost and nothing
   * was committed. `isRepeatable` names further errors after which `work` is repeated.
   */
  write<T>(
    verb: keyof Store | keyof SharedOutput | 'migrate' | 'fold',
    work: (tx: Transaction) => Promise<T>,
    isRepeatable?: (error: unknown) => boolean,
  ): Promise<T>;
  /** Runs reads that all see one state of the store. Repeats them after the connection was lost. */
  read<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Returns the id and the boot of this host. They are empty texts if it has no id yet. */
  host(): readonly [id: string, boot: string];
  /** Reads with one statement. This is cheaper, because it needs no transaction on a direct connection. */
  all<T = Row>(sql: string, ...values: Value[]): Promise<T[]>;
  /**
   * Changes rows with one statement that may run twice, and that has the columns of SELECT_HEAD. Returns its rows. On a direct connection it
   * needs no further statement, so a program that has become too old for the schema changes the rows once more before it is refused.
   */
  writeOnce(verb: 'beat', sql: string, ...values: Value[]): Promise<Row[]>;
  /** Runs `work` on a connection without a transaction of its own. */
  withClient<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** Does the same, but fails at once if the server cannot be reached. */
  withClientOnce<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /**
   * Sets the function that returns this host, and the path of its state directory. The function returns null as long as the host has
   * no id.
   */
  identifyHost(readHost: () => HostBoot | null, directory?: string): void;
  /** Waits until every transaction is over whose answer to COMMIT was lost. Throws if that takes too long. */
  untilCertain(): Promise<void>;
  /** Is called after every committed write. */
  onCommitted(listener: (verb: string) => void): void;
  close(): Promise<void>;
}

interface ConnectOptions {
  actor: string | null;
  now(): number;
  /** Is called with the time of the server, which was read between two times of `performance.now()`. */
  learnTime?(serverMs: number, sentAt: number, receivedAt: number): void;
  /** How long a call waits for a server that cannot be reached, or while a conflict lasts. */
  waitMs?: number;
  /** How long a call waits for the answer to a statement. */
  answerMs?: number;
  /** A connection that is open already. */
  first?: Client;
}

interface Opened extends Required<Pick<ConnectOptions, 'learnTime' | 'waitMs'>> {
  location: PostgresLocation;
  /** Tells whether a connection could be opened before. */
  wasOpen: boolean;
  connect(deadline?: number): Promise<Client>;
  /** The server ends a statement that runs for this long. */
  statementMs: number;
  pool: Pool;
  listeners: ((verb: string) => void)[];
  readHost: () => HostBoot | null;
  host: HostBoot | null;
  directory: string | null;
  /** The transactions of which it is unknown whether they were committed, and that may not be over. */
  uncertain: Set<BegunTransaction>;
}

export function connect(location: PostgresLocation, options: ConnectOptions): ServerConnection {
  const { actor, now, learnTime = () => {}, waitMs = DEFAULT_STORE_TIMEOUT_MS, first } = options;
  const { answerMs = answerMsFor(waitMs) } = options;
  const open = async (deadline = Number.POSITIVE_INFINITY): Promise<Client> => {
    const client = await connectClient(location, { connectMs: deadline - performance.now(), answerMs });
    opened.wasOpen = true;
    return client;
  };
  const pool = new Pool(open, MOST_CONNECTIONS, first);
  const opened: Opened = {
    ...{
      location,
      wasOpen: first !== undefined,
      pool,
      learnTime,
      waitMs,
      listeners: [],
      uncertain: new Set(),
    },
    ...{ connect: open, statementMs: statementMsFor(answerMs) },
    ...{ host: null, readHost: () => null, directory: null },
  };
  const connection: ServerConnection = {
    ...{ location, actor, now, host: () => hostOf(opened) },
    identity: { store: '', epoch: '', origin: null },
    // `this` may be a copy with another actor.
    write(verb, work, isRepeatable) {
      return write(opened, this, verb, work, isRepeatable);
    },
    read(work) {
      return repeat(opened, (deadline) => transact(opened, this, READ_HEAD, work, deadline), isDisconnection);
    },
    async all<T>(sql: string, ...values: Value[]) {
      return ((await runAlone(opened, this, sql, values)) ??
        (await this.read((tx) => tx.all(sql, ...values)))) as T[];
    },
    async writeOnce(verb, sql, ...values) {
      return (
        (await runAlone(opened, this, sql, values, verb)) ??
        (await this.write(verb, (tx) => tx.all(sql, ...values)))
      );
    },
    withClient: (work) => repeat(opened, (deadline) => usingClient(pool, work, deadline), isDisconnection),
    withClientOnce: (work) => usingClient(pool, work),
    identifyHost(readHost, directory) {
      opened.readHost = readHost;
      opened.directory = directory ?? null;
    },
    untilCertain: async () => {
      const deadline = performance.now() + waitMs;
      for (const transaction of opened.uncertain) await resolve(opened, transaction, deadline);
    },
    onCommitted: (listener) => void opened.listeners.push(listener),
    close: () => pool.close(),
  };
  return connection;
}

/** The first statements of a transaction. */
interface Head {
  begin: string;
  /** Applies the settings until the end of the transaction. $1 and $2 are the search path and the statement timeout. */
  select(schema: string): string;
}

/**
 * The settings are applied in each transaction, because a pooler may give the next one to another connection. One statement for all
 * of them can be prepared, and costs far less than many.
 */
const selectSettings = (settings: Record<string, string>, isLocal = true): string =>
  Object.entries({ search_path: '$1', statement_timeout: '$2', ...settings })
    .map(([name, value]) => `set_config('${name}', ${value}, ${isLocal})`)
    .join(', ');
/**
 * Makes PostgreSQL use the index that was made for a statement, whatever its statistics are. A plan may be made while the tables
 * are empty, and be used until the server analyzes them. A plan that cannot do without a scan of a table looks so expensive then
 * that older servers would compile it, which takes longer than to run it.
 */
const PREFER_INDEXES = { enable_seqscan: "'off'", enable_bitmapscan: "'off'", jit: "'off'" };
const PLANS = { plan_cache_mode: "'force_generic_plan'", ...PREFER_INDEXES };
const SETTINGS = { idle_in_transaction_session_timeout: "'5000'", ...PLANS };
/** The settings of a session for statements without a transaction. */
const SESSION_SETTINGS = selectSettings(PLANS, false);
const READ_HEAD: Head = {
  begin: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  select: () => `SELECT ${selectSettings(SETTINGS)}`,
};
/** Reading `meta` also keeps a migration from starting before this transaction has ended (see migrate.ts). */
const WRITE_HEAD: Head = {
  begin: 'BEGIN ISOLATION LEVEL READ COMMITTED',
  select: (
    schema,
  ) => `SELECT ${selectSettings({ ...SETTINGS, enable_hashjoin: "'off'", enable_mergejoin: "'off'" })},
  ${SELECT_BEGUN}, ${selectHead(`${schema}.meta`)}`,
};

async function write<T>(
  opened: Opened,
  connection: ServerConnection,
  verb: string,
  work: (tx: Transaction) => Promise<T>,
  isRepeatable: (error: unknown) => boolean = () => false,
): Promise<T> {
  crashPoint(`before-${verb}`);
  const workAndCrash = async (tx: Transaction): Promise<T> => {
    const result = await work(tx);
    crashPoint(`in-${verb}`);
    return result;
  };
  const result = await repeat(
    opened,
    (deadline) => transact(opened, connection, WRITE_HEAD, workAndCrash, deadline),
    (error) => isConflict(error) || isDisconnection(error) || isRepeatable(error),
  );
  for (const listener of opened.listeners) listener(verb);
  crashPoint(`after-${verb}`);
  return result;
}

/** Runs one statement without a transaction. Returns null, and runs nothing, if there may be a pooler. */
async function runAlone(
  opened: Opened,
  connection: Pick<ServerConnection, 'actor' | 'now'>,
  sql: string,
  values: Value[],
  verb?: string,
): Promise<Row[] | null> {
  const { location, pool } = opened;
  if (!location.prepared) return null;
  const run = async (client: Client): Promise<Row[] | null> => {
    if (!(await prepareSession(client, SESSION_SETTINGS, settingValues(opened)))) return null;
    if (verb !== undefined) crashPoint(`before-${verb}`);
    const sentAt = performance.now();
    const rows = await statementsOn(client, opened, connection).all(sql, ...values);
    if (verb === undefined) return rows;
    readHead(opened, rows[0]!, sentAt);
    crashPoint(`after-${verb}`);
    return rows;
  };
  return repeat(opened, (deadline) => usingClient(pool, run, deadline), isDisconnection);
}

/** Runs `work` between `head` and COMMIT. The first statement of `work` is sent together with `head`. */
async function transact<T>(
  opened: Opened,
  connection: Pick<ServerConnection, 'actor' | 'now'>,
  head: Head,
  work: (tx: Transaction) => Promise<T>,
  deadline: number,
): Promise<T> {
  const { pool } = opened;
  const client = await pool.take(deadline);
  let isBroken = true;
  try {
    const sentAt = performance.now();
    sendTogether(client);
    const tx = statementsOn(client, opened, connection);
    const begin = Promise.all([client.query(head.begin), tx.get(...headStatement(opened, head))]).then(
      ([, row]) => readHead(opened, row!, sentAt),
    );
    const [begun, done] = await Promise.allSettled([begin, work(tx)]);
    // The error of the first statement explains those of the others.
    if (begun.status === 'rejected') throw begun.reason;
    if (done.status === 'rejected') throw done.reason;
    isBroken = !(await commit(client, begun.value, opened, deadline));
    return done.value;
  } catch (error) {
    isBroken = isDisconnection(error) || !(await rollBack(client));
    throw error;
  } finally {
    pool.give(client, isBroken);
  }
}

function statementsOn(
  client: Client,
  opened: Opened,
  { actor, now }: Pick<ServerConnection, 'actor' | 'now'>,
): Transaction {
  const { prepared } = opened.location;
  const host = () => hostOf(opened);
  return transactionOn(client, { actor, now, host, directory: () => opened.directory, prepared });
}

function hostOf(opened: Opened): [id: string, boot: string] {
  opened.host ??= opened.readHost();
  return opened.host === null ? ['', ''] : [opened.host.id, opened.host.boot];
}

const headStatement = (opened: Opened, { select }: Head): [string, ...string[]] => [
  select(quoteName(opened.location.schema)),
  ...settingValues(opened),
];
/** Returns the search path and the statement timeout. */
const settingValues = ({ location, statementMs }: Opened): string[] => [
  `${quoteName(location.schema)}, pg_temp`,
  String(statementMs),
];

/** Learns what a write has read. Returns its transaction, or null if that has no id. Throws if this program is too old for the schema now. */
function readHead({ location, learnTime }: Opened, row: Row, sentAt: number): BegunTransaction | null {
  if (row.seconds === undefined) return null;
  learnTime(Number(row.seconds) * 1000, sentAt, performance.now());
  refuseUnsupported(parseVersion(row.version), location);
  if (row.id === undefined) return null;
  return { id: row.id as string, serverRun: row.serverRun as string };
}

/**
 * Commits. If the connection is lost before the answer, asks the server on a new connection what became of the transaction.
 * Returns false if the connection cannot be used again. Throws if nothing was committed, or if that is unknown.
 */
async function commit(
  client: Client,
  begun: BegunTransaction | null,
  opened: Opened,
  deadline: number,
): Promise<boolean> {
  try {
    const { command } = await client.query('COMMIT');
    if (command !== 'COMMIT')
      throw new QueueError('internal', 'a failed statement was ignored in a transaction');
    return true;
  } catch (error) {
    if (begun === null || !isDisconnection(error)) throw error;
    opened.uncertain.add(begun);
    // The server is asked at least once.
    const result = await resolve(opened, begun, Math.max(deadline, performance.now() + SHORTEST_CONNECT_MS)); // fault-control: lost-commit
    if (result === 'unknown') throw unknownCommit();
    if (result === 'aborted') throw error;
    return false;
  }
}

/** Waits until a transaction is over, and returns what became of it. */
async function resolve(
  { connect: open, uncertain }: Opened,
  transaction: BegunTransaction,
  deadline: number,
) {
  const result = await commitResultOf(transaction, () => open(deadline), deadline);
  uncertain.delete(transaction);
  return result;
}

async function rollBack(client: Client): Promise<boolean> {
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

async function usingClient<T>(
  pool: Pool,
  work: (client: Client) => Promise<T>,
  deadline?: number,
): Promise<T> {
  const client = await pool.take(deadline);
  let isBroken = true;
  try {
    const result = await work(client);
    isBroken = false;
    return result;
  } finally {
    pool.give(client, isBroken);
  }
}
