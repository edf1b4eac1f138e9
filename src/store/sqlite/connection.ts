import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { pause } from '../../core/clock.ts';
import { crashPoint } from '../../core/crash-point.ts';
import { QueueError } from '../../core/errors.ts';
import { freeBallast } from '../../state/ballast.ts';
import { stateBeside } from '../../state/state-directory.ts';
import type { Store } from '../store.ts';
import { BUSY, isBusy, isFull, isOutOfRange, translate } from './failures.ts';
import { type FileWatch, fileOf, watchLiveFiles } from './live-files.ts';
import { isSqliteSound, OLDEST_SQLITE } from './sqlite-version.ts';

export type Row = Record<string, string | number | bigint | Uint8Array | null>;

/** SQLite itself waits this long and blocks the process. The rest of the waiting is done between tries. */
const BUSY_TIMEOUT_MS = 5; // fault-control: busy-timeout
const GIVE_UP_MS = 30_000;
/** A hold gives up sooner, because another process may use the file for days. */
const HOLD_GIVE_UP_MS = 5000;

/** Runs SQL on a connection. Each text is prepared once. */
interface Statements {
  /** Returns the first row. `T` states its columns. */
  get<T = Row>(sql: string, ...values: SQLInputValue[]): T | undefined;
  all<T = Row>(sql: string, ...values: SQLInputValue[]): T[];
  /** Reads one row at a time, because all of them may not fit into memory. */
  each(sql: string, ...values: SQLInputValue[]): Iterable<Row>;
  /** Returns the number of rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  /** Inserts rows and returns the number of the last one. */
  lastNumber(sql: string, ...values: SQLInputValue[]): number;
}

/** A connection to a database file. It writes only in short immediate transactions. */
export interface Connection extends Statements {
  readonly path: string;
  /** Names the user of the connection in its events. */
  readonly actor: string | null;
  /** Returns the time of its events. */
  now(): number;
  exec(sql: string): void;
  pragma(name: string): number;
  /** Makes every write call `check` first, inside its transaction. It throws to refuse the write. */
  guard(check: () => void): void;
  /** Calls `mend` after a write failed because of a value out of range. If that returns true, the write is done again. */
  onBadValue(mend: (error: unknown) => boolean): void;
  /** Switches the file to WAL mode. No commit is made without it. */
  useWal(): Promise<void>;
  /**
   * Waits for the other writers and runs `work`, which must not await, as a whole or not at all. With `spare` it may use what
   * the ballast keeps free on a full disk, because it ends or removes something.
   */
  write<T>(verb: keyof Store | 'migrate', work: () => T, how?: { spare: boolean }): Promise<T>;
  /** Runs reads that all see one state of the store. Waits if it meets a lock. */
  read<T>(work: () => T): Promise<T>;
  /**
   * Locks everybody else out until it is closed, with the whole database in its one file. Others wait as for any writer. Does
   * nothing once another file has the path, because the WAL there belongs to that file.
   */
  hold(): Promise<void>;
  /** Tells whether the open file is still the one at the path. Nobody would read what is written into another one. */
  isCurrent(): boolean;
  /** Throws if the file is no longer current, or if its -wal or -shm file was removed. */
  checkFile(): void;
  /**
   * Makes every read and write throw once the -wal or -shm file was removed. Another process may have made new ones, and nobody
   * would see what is written into the old ones.
   */
  watchFiles(): void;
  /** Writes the whole database, as of one moment, into an empty file. */
  copyInto(path: string): Promise<void>;
  /**
   * Closes it, unless another -wal or -shm file has the name of its own. SQLite would copy old pages over new ones then, and
   * remove the new -wal. Such a connection stays open until the process ends. If its files were only removed, closing is safe:
   * nobody makes new ones while this process has the old ones open (care/current-files.ts).
   */
  close(): void;
}

/** The parts of an open connection that its functions share. */
interface Opened {
  path: string;
  db: DatabaseSync;
  files: FileWatch;
  check: () => void;
  mend: (error: unknown) => boolean;
  writing: boolean;
}

export async function connect(
  path: string,
  { open = openFile, actor = null as string | null, now = Date.now } = {},
): Promise<Connection> {
  // The file is identified before it is opened. If another one comes in between, this one counts as replaced.
  const file = fileOf(path);
  const isCurrent = (): boolean => fileOf(path) === file;
  const db = open(path);
  const files = watchLiveFiles(path, isCurrent);
  const opened: Opened = { path, db, files, check: () => {}, mend: () => false, writing: false };
  try {
    await untilFree(path, () => prepare(db));
  } catch (error) {
    db.close();
    throw error;
  }
  return {
    path,
    actor,
    now,
    ...statementsOf(opened),
    exec: (sql) => db.exec(sql),
    pragma: (name) => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() as Row)[0]),
    guard: (check) => {
      opened.check = check;
    },
    onBadValue: (mend) => {
      opened.mend = mend;
    },
    useWal: () =>
      untilFree(path, () => {
        if (modeOf(db) !== 'wal') db.exec('PRAGMA journal_mode = WAL');
      }),
    write: (verb, work, { spare } = { spare: false }) => write(opened, verb, work, spare),
    read: (work) =>
      untilFree(path, () =>
        files.around(() => {
          files.lookSometimes();
          return transaction(db, 'BEGIN', work);
        }),
      ),
    hold: () => untilFree(path, () => hold(db, isCurrent), HOLD_GIVE_UP_MS),
    isCurrent,
    checkFile: () => {
      if (!isCurrent())
        throw new QueueError('store-unavailable', `${path} was removed or replaced while in use`);
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
}

function statementsOf(opened: Opened): Statements {
  const { db } = opened;
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = db.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };
  /** Reads again what holds a value that is too large, as nearly as possible. A write must not depend on such a value. */
  const readLarge = (error: unknown, sql: string, values: SQLInputValue[]): Row[] => {
    if (opened.writing || !isOutOfRange(error)) throw error;
    const statement = db.prepare(sql);
    statement.setReadBigInts(true);
    return (statement.all(...values) as Row[]).map(withoutBigInts);
  };
  return {
    get<T>(sql: string, ...values: SQLInputValue[]) {
      try {
        return prepared(sql).get(...values) as T | undefined;
      } catch (error) {
        return readLarge(error, sql, values)[0] as T | undefined;
      }
    },
    all<T>(sql: string, ...values: SQLInputValue[]) {
      try {
        return prepared(sql).all(...values) as T[];
      } catch (error) {
        return readLarge(error, sql, values) as T[];
      }
    },
    *each(sql, ...values) {
      let count = 0;
      try {
        for (const row of prepared(sql).iterate(...values)) {
          yield row as Row;
          count++;
        }
      } catch (error) {
        yield* readLarge(error, sql, values).slice(count);
      }
    },
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    lastNumber(sql, ...values) {
      const number = Number(prepared(sql).run(...values).lastInsertRowid);
      if (Number.isSafeInteger(number)) return number;
      throw Object.assign(new RangeError(`${number} is not a valid row number`), {
        code: 'ERR_OUT_OF_RANGE',
      });
    },
  };
}

async function write<T>(opened: Opened, verb: string, work: () => T, spare: boolean): Promise<T> {
  const { path, db, files } = opened;
  crashPoint(`before-${verb}`);
  const commit = (): T =>
    transaction(db, 'BEGIN IMMEDIATE', () => {
      opened.check();
      const done = work();
      crashPoint(`in-${verb}`);
      return done;
    });
  const result = await untilFree(path, () =>
    files.around(() => {
      const done = commitOrMend(opened, commit, spare);
      // The look comes before the answer, because a commit into a removed file may be lost.
      files.lookAtBoth('; the last change may not have been saved');
      return done;
    }),
  );
  crashPoint(`after-${verb}`);
  return result;
}

/** Commits. If that fails because of a bad value or a full disk, removes the cause and commits again. */
function commitOrMend<T>(opened: Opened, commit: () => T, spare: boolean): T {
  opened.writing = true;
  try {
    return commit();
  } catch (error) {
    const mended = (isOutOfRange(error) || isFull(error)) && opened.mend(error);
    if (!mended && !(spare && isFull(error) && freeBallast(stateBeside(opened.path)))) throw error;
    return commit();
  } finally {
    opened.writing = false;
  }
}

/** Replaces numbers that are too large for JavaScript by the nearest ones that it has. */
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
  // A statement that fires a trigger writes its own journal, by default to disk, which would double its cost.
  db.exec('PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY');
}

function refuseOldSqlite(db: DatabaseSync): void {
  const version = String((db.prepare('SELECT sqlite_version() AS v').get() as Row).v);
  if (isSqliteSound(version)) return;
  throw new QueueError(
    'old-sqlite',
    `SQLite ${version} can corrupt a database in WAL mode; queuectl needs ${OLDEST_SQLITE}`,
  );
}

function transaction<T>(db: DatabaseSync, begin: string, work: () => T): T {
  db.exec(begin); // fault-control: begin
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // After some errors SQLite has already rolled back.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Locks everybody else out. Every connection in WAL mode holds a lock on the file, so none is overlooked. */
function hold(db: DatabaseSync, isCurrent: () => boolean): void {
  db.prepare('PRAGMA schema_version').get();
  // In WAL mode that read has locked the file, so it stays current.
  if (!isCurrent()) return;
  if (modeOf(db) !== 'delete') db.exec('PRAGMA journal_mode = DELETE');
  db.exec('BEGIN EXCLUSIVE');
  if (modeOf(db) === 'delete') return;
  // Another process has switched it back in between.
  db.exec('ROLLBACK');
  throw Object.assign(new Error('database is locked'), { errcode: BUSY });
}

function modeOf(db: DatabaseSync): string {
  return String(Object.values(db.prepare('PRAGMA journal_mode').get() as Row)[0]);
}

/** Tries until the file is not locked. Short random pauses are fairer than SQLite's growing ones, which can starve a process. */
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
