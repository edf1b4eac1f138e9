import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { pause } from '../../core/clock.ts';
import { crashPoint } from '../../core/crash-point.ts';
import { QueueError } from '../../core/errors.ts';
import { freeBallast } from '../../state/ballast.ts';
import { stateBeside } from '../../state/state-directory.ts';
import type { Store } from '../store.ts';
import { BUSY, isBusy, isFull, isOutOfRange, translate } from './failures.ts';
import { fileOf, watchLiveFiles } from './live-files.ts';
import { isSqliteSound, OLDEST_SQLITE } from './sqlite-version.ts';

export type Row = Record<string, string | number | bigint | Uint8Array | null>;

/** SQLite waits this long by itself, blocking the process; the rest of the waiting is done between tries. */
const BUSY_TIMEOUT_MS = 5; // fault-control: busy-timeout
const GIVE_UP_MS = 30_000;
/** Whoever is at work in it may be at work for days. */
const HOLD_GIVE_UP_MS = 5000;

/** One connection, its prepared statements and the only way to write: a short immediate transaction. */
export interface Connection {
  readonly path: string;
  /** Who writes through it; events say so. */
  readonly actor: string | null;
  get(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: SQLInputValue[]): Row[];
  /** One by one, for what is too much at once. */
  each(sql: string, ...values: SQLInputValue[]): Iterable<Row>;
  /** The number of rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  lastNumber(sql: string, ...values: SQLInputValue[]): number;
  exec(sql: string): void;
  pragma(name: string): number;
  /** From now on every write asks this first, inside its transaction; it throws to refuse. */
  guard(check: () => void): void;
  /**
   * When a write fails because of a value out of range, `mend` is called in a transaction of its own, and the write is done again
   * if that has changed anything.
   */
  onBadValue(mend: (error: unknown) => boolean): void;
  /** Turns a file of ours to WAL mode, where it is not: without it no commit is taken. */
  useWal(): Promise<void>;
  /**
   * Waits for the other writers, runs `work` as a whole or not at all. No await inside. `spare`: on a full disk it may use
   * what the ballast keeps free, because it ends or removes something.
   */
  write<T>(verb: keyof Store | 'migrate', work: () => T, how?: { spare: boolean }): Promise<T>;
  /** Several reads see one state of the store; a lock that is met is waited for. */
  read<T>(work: () => T): Promise<T>;
  /**
   * Keeps everybody else out until it is closed, with all of the database in its one file. Who comes meanwhile waits as for
   * any writer. Not so once the path leads to another file: whose WAL stands there then is not this one's to touch.
   */
  hold(): Promise<void>;
  /** The file at the path is still the one that is open: what is written into another nobody would ever read. */
  isCurrent(): boolean;
  /** Fails when it is not, or when its -wal or -shm file was removed. */
  checkFile(): void;
  /**
   * From now on the -wal and -shm files must stay the ones that are open. Once one was removed, every read and write throws:
   * another process may work with new files by now, and nobody would see what is written into the old ones.
   */
  watchFiles(): void;
  /** Writes the whole database, as of one moment, into an empty file. */
  copyInto(path: string): Promise<void>;
  /**
   * Closes it, unless another -wal or -shm file has the name of its own: SQLite would copy old pages over new ones, and remove
   * the new -wal by its name. Such a connection stays open until the process ends. If its files were only removed, closing is
   * safe: nobody makes new ones while this process has the old ones open (care/current-files.ts).
   */
  close(): void;
}

export async function connect(
  path: string,
  open = openFile,
  actor: string | null = null,
): Promise<Connection> {
  // Before it is opened: should another come between the two, it is taken for replaced, never for the same.
  const file = fileOf(path);
  const db = open(path);
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = db.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };
  let check = (): void => {};
  let mend: (error: unknown) => boolean = () => false;
  let writing = false;
  /** Reads once more what holds a value that is too large. It is shown as nearly as possible. */
  const large = (sql: string, values: SQLInputValue[]): Row[] => {
    const statement = db.prepare(sql);
    statement.setReadBigInts(true);
    return (statement.all(...values) as Row[]).map(withoutBigInts);
  };
  // What is written must not depend on a value that is only nearly right.
  const readable = <T>(read: () => T, again: () => T): T => {
    try {
      return read();
    } catch (error) {
      if (writing || !isOutOfRange(error)) throw error;
      return again();
    }
  };
  const files = watchLiveFiles(path, () => fileOf(path) === file);
  const connection: Connection = {
    path,
    actor,
    get: (sql, ...values) =>
      readable(
        () => prepared(sql).get(...values) as Row | undefined,
        () => large(sql, values)[0],
      ),
    all: (sql, ...values) =>
      readable(
        () => prepared(sql).all(...values) as Row[],
        () => large(sql, values),
      ),
    *each(sql, ...values) {
      let count = 0;
      try {
        for (const row of prepared(sql).iterate(...values)) {
          yield row as Row;
          count++;
        }
      } catch (error) {
        if (writing || !isOutOfRange(error)) throw error;
        yield* large(sql, values).slice(count);
      }
    },
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    lastNumber: (sql, ...values) => {
      const number = Number(prepared(sql).run(...values).lastInsertRowid);
      if (Number.isSafeInteger(number)) return number;
      throw Object.assign(new RangeError(`${number} is not a valid row number`), {
        code: 'ERR_OUT_OF_RANGE',
      });
    },
    exec: (sql) => db.exec(sql),
    pragma: (name) => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() as Row)[0]),
    guard: (wanted) => {
      check = wanted;
    },
    onBadValue: (wanted) => {
      mend = wanted;
    },
    useWal: () =>
      untilFree(path, () => {
        if (modeOf(db) !== 'wal') db.exec('PRAGMA journal_mode = WAL');
      }),
    read: (work) =>
      untilFree(path, () =>
        files.around(() => {
          files.lookSometimes();
          return transaction(db, 'BEGIN', work);
        }),
      ),
    async write<T>(verb: keyof Store | 'migrate', work: () => T, { spare } = { spare: false }) {
      crashPoint(`before-${verb}`);
      const commit = () =>
        transaction(db, 'BEGIN IMMEDIATE', () => {
          check();
          const done = work();
          crashPoint(`in-${verb}`);
          return done;
        });
      const commitOnce = (): T => {
        writing = true;
        try {
          return commit();
        } catch (error) {
          const mended = (isOutOfRange(error) || isFull(error)) && mend(error);
          if (!mended && !(spare && isFull(error) && freeBallast(stateBeside(path)))) throw error;
          return commit();
        } finally {
          writing = false;
        }
      };
      const result = await untilFree(path, () =>
        files.around(() => {
          const done = commitOnce();
          // Before anybody is told: what was committed into a removed file may be lost.
          files.lookAtBoth('; the last change may not have been saved');
          return done;
        }),
      );
      crashPoint(`after-${verb}`);
      return result;
    },
    hold: () => untilFree(path, () => hold(db, () => fileOf(path) === file), HOLD_GIVE_UP_MS),
    isCurrent: () => fileOf(path) === file,
    checkFile: () => {
      if (fileOf(path) !== file) {
        throw new QueueError('store-unavailable', `${path} was removed or replaced while in use`);
      }
      files.lookAtBoth();
    },
    watchFiles: () => files.start(db),
    copyInto: (target) =>
      untilFree(path, () => {
        db.prepare('VACUUM INTO ?').run(target);
      }),
    close: () => {
      if (!db.isOpen || files.isReplaced()) return;
      files.stop();
      db.close();
    },
  };
  try {
    await untilFree(path, () => prepare(db));
  } catch (error) {
    db.close();
    throw error;
  }
  return connection;
}

/** Numbers that are too large for JavaScript become the nearest that it has. */
export function withoutBigInts(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, typeof value === 'bigint' ? Number(value) : value]),
  );
}

function openFile(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path);
  } catch (error) {
    throw translate(error, path);
  }
}

function prepare(db: DatabaseSync): void {
  refuseOldSqlite(db);
  db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON`); // fault-control: sync-commits
  // A statement that fires a trigger keeps a journal of its own, on disk by default: that would double its cost.
  db.exec('PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY');
}

function refuseOldSqlite(db: DatabaseSync): void {
  const version = String((db.prepare('SELECT sqlite_version() AS v').get() as Row).v);
  if (!isSqliteSound(version)) {
    throw new QueueError(
      'old-sqlite',
      `SQLite ${version} can corrupt a database in WAL mode; queuectl needs ${OLDEST_SQLITE}`,
    );
  }
}

function transaction<T>(db: DatabaseSync, begin: string, work: () => T): T {
  db.exec(begin); // fault-control: begin
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite has already rolled back after some errors; then there is nothing left to undo.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** A connection in WAL mode keeps a lock on the file for as long as it lives: so this finds everybody. */
function hold(db: DatabaseSync, isCurrent: () => boolean): void {
  db.prepare('PRAGMA schema_version').get();
  // In WAL mode it is locked since that look, so it stays current.
  if (!isCurrent()) return;
  if (modeOf(db) !== 'delete') db.exec('PRAGMA journal_mode = DELETE');
  db.exec('BEGIN EXCLUSIVE');
  if (modeOf(db) === 'delete') return;
  // Somebody came between the two, and turned it back.
  db.exec('ROLLBACK');
  throw Object.assign(new Error('database is locked'), { errcode: BUSY });
}

function modeOf(db: DatabaseSync): string {
  return String(Object.values(db.prepare('PRAGMA journal_mode').get() as Row)[0]);
}

/** Short random pauses between tries: fairer, and far shorter for the slowest, than SQLite's own growing ones. */
async function untilFree<T>(path: string, work: () => T, giveUpMs = GIVE_UP_MS): Promise<T> {
  const start = performance.now();
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw translate(error, path); // fault-control: busy-retry
      if (performance.now() - start > giveUpMs) throw translate(error, path);
      await pause(1 + Math.random() * 3);
    }
  }
}
