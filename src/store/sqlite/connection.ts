import { statSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { crashPoint } from '../../core/crash-point.ts';
import { QueueError } from '../../core/errors.ts';
import { pause } from '../../core/time/clock.ts';
import { stateBeside } from '../../state/state-directory.ts';
import type { Row } from '../row.ts';
import type { Store } from '../store.ts';
import { BUSY, isBusy, isFull, isOutOfRange, translateError } from './failures.ts';
import { isSafeSqliteVersion, OLDEST_SQLITE } from './schema-version.ts';

/** SQLite itself waits this long for a lock and blocks the process. `retryWhileLocked` waits for longer locks. */
const BUSY_TIMEOUT_MS = 5; // fault-control: busy-timeout
/** Reads and writes fail if the file stays locked for this long. */
const GIVE_UP_MS = 30_000;
/** `lockOut` gives up sooner, because another process may use the file for days. */
const LOCK_OUT_GIVE_UP_MS = 5000;

/** Runs SQL on a connection. Each text is prepared once. */
interface Statements {
  /** Returns the first row. `T` is the type of the row. */
  get<T = Row>(sql: string, ...values: SQLInputValue[]): T | undefined;
  all<T = Row>(sql: string, ...values: SQLInputValue[]): T[];
  /** Reads one row at a time, because all of them may not fit into memory. */
  each(sql: string, ...values: SQLInputValue[]): Iterable<Row>;
  /** Returns the number of rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  /** Inserts rows and returns the number of the last one. */
  insert(sql: string, ...values: SQLInputValue[]): number;
}

interface WriteOptions {
  usesBallast?: boolean;
  ifFree?: boolean;
}

/** A connection to a database file. It writes only in short immediate transactions. */
export interface Connection extends Statements {
  readonly path: string;
  /** Names the user of the connection in its events. */
  readonly actor: string | null;
  /** Returns the current time, for events. */
  now(): number;
  exec(sql: string): void;
  /** Returns the value of a pragma that is a number. */
  pragma(name: string): number;
  /** Makes every write call `check` first, inside its transaction. `check` throws to refuse the write. */
  checkBeforeWrites(check: () => void): void;
  /** Switches the file to WAL mode. Returns whether it was in another mode. */
  useWal(): Promise<boolean>;
  /**
   * Runs `work`, which must not await, in a transaction. Waits for other writers, but not with `ifFree`. With
   * `usesBallast`, it frees the ballast if the disk is full, and then passes true to `work`. Only writes that end or remove
   * something use the ballast.
   */
  write<T>(
    verb: keyof Store | 'migrate' | 'fold',
    work: (isBallastFreed: boolean) => T,
    options?: WriteOptions,
  ): Promise<T>;
  /** Makes every write call a listener after its commit. */
  onWritten(listener: (verb: string) => void): void;
  /** Runs reads that all see one state of the store. Waits while the file is locked. */
  read<T>(work: () => T): Promise<T>;
  /**
   * Locks out all other connections until this one is closed, and copies the WAL into the file. Others wait as for any writer.
   * Does nothing if another file has the path now, because the -wal file there belongs to that file.
   */
  lockOut(): Promise<void>;
  /** Tells whether the open file is still the one at the path. Otherwise nobody would read what is written into it. */
  isCurrent(): boolean;
  /** Throws if the file is no longer current. */
  checkFile(): void;
  /** Writes the whole database, as of one moment, into an empty file. */
  copyInto(path: string): Promise<void>;
  close(): void;
}

/** Returns the identity of the file at a path, or 'none'. It does not open the file, because closing it would drop SQLite's locks. */
export function fileId(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 'none' : `${stat.dev}:${stat.ino}`;
}

/** The state of an open connection that its functions share. */
interface ConnectionState {
  path: string;
  db: DatabaseSync;
  check: () => void;
  isWriting: boolean;
  onWritten: (verb: string) => void;
}

/** Opens a file. With `alone`, it throws if another connection is open, and locks out others until it is closed. */
export async function connect(
  path: string,
  { open = openFile, actor = null as string | null, now = Date.now, alone = false } = {},
): Promise<Connection> {
  // The file is identified before it is opened. If it is replaced in between, the connection is not current.
  const file = fileId(path);
  const isCurrent = (): boolean => fileId(path) === file;
  const db = open(path);
  const opened: ConnectionState = {
    path,
    db,
    check: () => {},
    isWriting: false,
    onWritten: () => {},
  };
  try {
    // The next read then locks out all other connections until this one is closed, and fails as busy if there is another one. Without
    // others, SQLite needs no -shm file, which saves a short command a tenth of its time.
    if (alone) db.exec('PRAGMA locking_mode = EXCLUSIVE');
    await retryWhileLocked(path, () => configure(db), alone ? 0 : GIVE_UP_MS);
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
    checkBeforeWrites: (check) => {
      opened.check = check;
    },
    // Two connections that lock out others may both have read a file that is not in WAL mode. Neither must wait for the other.
    useWal: () => retryWhileLocked(path, () => switchToWal(db), alone ? 0 : GIVE_UP_MS),
    write: (verb, work, options) => write(opened, verb, work, options),
    onWritten: (listener) => {
      opened.onWritten = listener;
    },
    read: (work) => retryWhileLocked(path, () => transaction(db, 'BEGIN', work)),
    lockOut: () => retryWhileLocked(path, () => lockOut(db, isCurrent), LOCK_OUT_GIVE_UP_MS),
    isCurrent,
    checkFile: () => {
      if (!isCurrent())
        throw new QueueError('store-unavailable', `${path} was removed or replaced while in use`);
    },
    copyInto: (target) =>
      retryWhileLocked(path, () => {
        db.prepare('VACUUM INTO ?').run(target);
      }),
    close: () => {
      if (db.isOpen) db.close();
    },
  };
}

function statementsOf(opened: ConnectionState): Statements {
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
  /** Repeats a read that failed because of a number too large for JavaScript, and rounds it. A write must not depend on such a number. */
  const readLarge = (error: unknown, sql: string, values: SQLInputValue[]): Row[] => {
    if (opened.isWriting || !isOutOfRange(error)) throw error;
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
    insert(sql, ...values) {
      const number = Number(prepared(sql).run(...values).lastInsertRowid);
      if (Number.isSafeInteger(number)) return number;
      throw Object.assign(new RangeError(`${number} is not a valid row number`), {
        code: 'ERR_OUT_OF_RANGE',
      });
    },
  };
}

async function write<T>(
  opened: ConnectionState,
  verb: string,
  work: (isBallastFreed: boolean) => T,
  { usesBallast = false, ifFree = false }: WriteOptions = {},
): Promise<T> {
  const { path, db } = opened;
  crashPoint(`before-${verb}`);
  let isFreed = false;
  const change = (): T => {
    opened.check();
    const done = work(isFreed);
    crashPoint(`in-${verb}`);
    return done;
  };
  const save = (): T => transactionOfWriter(opened, change);
  const freeSpace = async (error: unknown): Promise<boolean> => {
    if (isFreed || !usesBallast || !isFull(error)) return false;
    isFreed = true;
    const { freeBallast } = await import('../../state/ballast.ts');
    return freeBallast(stateBeside(path));
  };
  const saveIfFree = (): T => {
    db.exec('PRAGMA busy_timeout = 0');
    try {
      return save();
    } finally {
      db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  };
  const result = ifFree
    ? await retryWhileLocked(path, saveIfFree, 0, freeSpace)
    : await retryWhileLocked(path, save, GIVE_UP_MS, freeSpace);
  crashPoint(`after-${verb}`);
  opened.onWritten(verb);
  return result;
}

/** Runs `work` in a transaction that writes. It must not depend on a number that was rounded. */
function transactionOfWriter<T>(opened: ConnectionState, work: () => T): T {
  opened.isWriting = true;
  try {
    return transaction(opened.db, 'BEGIN IMMEDIATE', work);
  } finally {
    opened.isWriting = false;
  }
}

/** Rounds integers that are too large for JavaScript to the nearest numbers. */
export function withoutBigInts(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, typeof value === 'bigint' ? Number(value) : value]),
  );
}

function openFile(path: string): DatabaseSync {
  try {
    // An import at the top would fail on an old Node, before `openStore` can say so.
    const sqlite = process.getBuiltinModule('node:sqlite');
    return new sqlite.DatabaseSync(path);
  } catch (error) {
    throw translateError(error, path);
  }
}

function configure(db: DatabaseSync): void {
  refuseOldSqlite(db);
  const settings = `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON`; // fault-control: sync-commits
  // A statement that fires a trigger writes a temporary journal. Writing it to disk, the default, would double the cost.
  db.exec(`${settings}; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864`);
}

function refuseOldSqlite(db: DatabaseSync): void {
  const version = String((db.prepare('SELECT sqlite_version() AS v').get() as Row).v);
  if (isSafeSqliteVersion(version)) return;
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

/** Locks out all other connections. SQLite leaves WAL mode only if no other connection is open, so this fails as busy while one is. */
function lockOut(db: DatabaseSync, isCurrent: () => boolean): void {
  db.prepare('PRAGMA schema_version').get();
  // In WAL mode that read has locked the file, so nobody can replace it from now on.
  if (!isCurrent()) return;
  if (journalModeOf(db) !== 'delete') db.exec('PRAGMA journal_mode = DELETE');
  db.exec('BEGIN EXCLUSIVE');
  if (journalModeOf(db) === 'delete') return;
  // Another process has switched back to WAL mode in between.
  db.exec('ROLLBACK');
  throw Object.assign(new Error('database is locked'), { errcode: BUSY });
}

/** Switches to WAL mode. Returns whether the file was in another mode. */
function switchToWal(db: DatabaseSync): boolean {
  if (journalModeOf(db) === 'wal') return false;
  db.exec('PRAGMA journal_mode = WAL');
  return true;
}

function journalModeOf(db: DatabaseSync): string {
  return String(Object.values(db.prepare('PRAGMA journal_mode').get() as Row)[0]);
}

/** Repeats `work` while the file is locked, for at most `giveUpMs`, and after `freeSpace` has made room on a full disk. SQLite's own, growing pauses could starve a process. */
async function retryWhileLocked<T>(
  path: string,
  work: () => T,
  giveUpMs = GIVE_UP_MS,
  freeSpace: (error: unknown) => Promise<boolean> = async () => false,
): Promise<T> {
  // Most calls succeed at once, and the first use of the clock takes time.
  let start: number | null = null;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (await freeSpace(error)) continue;
      if (!isBusy(error)) throw translateError(error, path); // fault-control: busy-retry
      start ??= performance.now();
      if (giveUpMs === 0 || performance.now() - start > giveUpMs) throw translateError(error, path);
      await pause(1 + Math.random() * 3);
    }
  }
}
