import type { ServerConnection } from '../../src/store/postgres/connection/connection.ts';
import type { Transaction } from '../../src/store/postgres/connection/transaction.ts';
import { postgresStore } from '../../src/store/postgres/store.ts';
import type { Row, Value } from '../../src/store/row.ts';
import type { Store } from '../../src/store/store.ts';
import { withPostgres } from './postgres.ts';
import { until } from './queuectl.ts';

/** Other texts for statements, by their text. A test removes a safeguard with it. */
export type Replacements = Record<string, string>;

/** Two calls at the same time. */
export interface Race<T> {
  prepare(store: Store): Promise<T>;
  /** This call stops after the given answer to one of its statements, until the second call has ended or waits for its locks. */
  first(store: Store, prepared: T): Promise<unknown>;
  stopsAfter: { statement: string; answers?: number };
  second(store: Store, prepared: T): Promise<unknown>;
}

/** Runs a race on a new store, and returns what `look` finds after both calls have ended. `tries` is how often they began. */
export async function runRace<T, R>(
  race: Race<T>,
  replacements: Replacements,
  look: (store: Store, tries: number) => Promise<R>,
): Promise<R> {
  let found: R | undefined;
  let tries = 0;
  await withPostgres(async (store, connection) => {
    const db: ServerConnection = {
      ...connection,
      write(verb, work, isRepeatable) {
        const counted = (tx: Transaction) => {
          tries++;
          return work(tx);
        };
        return connection.write(verb, counted, isRepeatable);
      },
    };
    const prepared = await race.prepare(store);
    const { stop, stopped, goOn } = stopper(race.stopsAfter);
    const first = race.first(storeOn(db, replacements, stop), prepared);
    const pid = await Promise.race([stopped, first.then(() => Promise.reject(new Error('never stopped')))]);
    const second = race.second(storeOn(db, replacements), prepared);
    await Promise.race([second, until(() => isWaitedFor(db, pid), 'the second call ends or waits')]);
    goOn();
    await Promise.all([first, second]);
    found = await look(store, tries);
  });
  return found!;
}

type AfterAnswer = (tx: Transaction, statement: string) => Promise<void>;

function storeOn(
  db: ServerConnection,
  replacements: Replacements,
  after: AfterAnswer = async () => {},
): Store {
  const changed = (tx: Transaction): Transaction => {
    const wrap =
      <R>(send: (statement: string, ...values: Value[]) => Promise<R>) =>
      async (statement: string, ...values: Value[]): Promise<R> => {
        const answer = await send(replacements[statement] ?? statement, ...values);
        await after(tx, statement);
        return answer;
      };
    return { ...tx, get: wrap(tx.get<Row>), all: wrap(tx.all<Row>), run: wrap(tx.run) } as Transaction;
  };
  const intercepted: ServerConnection = {
    ...db,
    write: (verb, work, isRepeatable) => db.write(verb, (tx) => work(changed(tx)), isRepeatable),
    // As behind a pooler, so that it can be stopped.
    writeOnce: (verb, statement, ...values) => intercepted.write(verb, (tx) => tx.all(statement, ...values)),
  };
  return postgresStore(intercepted, async () => {});
}

/** Stops a transaction once, and returns the pid of its backend. */
function stopper({ statement, answers = 1 }: Race<unknown>['stopsAfter']) {
  const reached = Promise.withResolvers<number>();
  const released = Promise.withResolvers<void>();
  let seen = 0;
  const stop: AfterAnswer = async (tx, text) => {
    if (text !== statement || ++seen !== answers) return;
    await tx.run('SET LOCAL idle_in_transaction_session_timeout = 0');
    reached.resolve((await tx.get<{ pid: number }>('SELECT pg_backend_pid() AS pid'))!.pid);
    await released.promise;
  };
  return { stop, stopped: reached.promise, goOn: released.resolve };
}

/** Tells whether a transaction waits for a lock of the backend with this pid. */
async function isWaitedFor(db: ServerConnection, pid: number): Promise<boolean> {
  const waiting = 'SELECT 1 FROM pg_locks WHERE NOT granted AND $1::int = ANY(pg_blocking_pids(pid)) LIMIT 1';
  return (await db.read((tx) => tx.get(waiting, pid))) !== undefined;
}
