import { closeSync, constants, copyFileSync, existsSync, fstatSync, openSync, statSync } from 'node:fs';
import { QueueError } from '../../../core/errors.ts';
import { copyBytes } from '../../../files/write-all.ts';
import { type Connection, connect } from '../connection.ts';
import { translate } from '../failures.ts';
import { makeFile } from './new-file.ts';

/** A store that everybody else is kept out of, so that its file can be read and replaced. */
export interface Held {
  /** The WAL is folded into the file. False: SQLite cannot read it, so nobody uses it, and its WAL was left. */
  folded: boolean;
  /** Tells whether its name still leads to it. */
  isCurrent(): boolean;
  /** Copies its bytes, damaged or not. */
  copyTo(path: string): void;
  letGo(): void;
}

/** Errors after which a later try may succeed. After all others SQLite cannot read the file. */
const PASSING = new Set(['store-busy', 'disk-full', 'store-unavailable']);

/** The file may be replaced this many times in a row while this process waits for it. */
const MOST_TRIES = 10;

/** Holds a store. Nothing else in this process may open the file meanwhile: closing it would drop the lock. */
export async function holdSqlite(path: string): Promise<Held> {
  for (let tries = 1; ; tries++) {
    const held = await holdOnce(path);
    // Who waited may have got a file that another restore or repair has put away meanwhile.
    if (held.isCurrent()) return held;
    held.letGo();
    if (tries === MOST_TRIES)
      throw new QueueError('store-busy', `${path} is being replaced repeatedly by another process`);
  }
}

/** Creates an empty file and holds it, so that nobody gets in when it receives another name. */
export async function holdNewSqlite(path: string): Promise<Held> {
  makeFile(path);
  return holdOnce(path);
}

async function holdOnce(path: string): Promise<Held> {
  const raw = open(path);
  const file = fstatSync(raw);
  let connection: Connection | null;
  try {
    connection = await enter(path, file.size);
  } catch (error) {
    closeSync(raw);
    throw error;
  }
  const folded = connection !== null;
  return {
    folded,
    isCurrent() {
      const now = statSync(path, { throwIfNoEntry: false });
      return now?.ino === file.ino && now.dev === file.dev;
    },
    copyTo(target) {
      copyBytes(raw, target);
      if (!folded && existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${target}-wal`);
    },
    letGo() {
      connection?.close();
      closeSync(raw);
    },
  };
}

function open(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw translate(error, path);
  }
}

/** Returns null if SQLite cannot read the file, or would drop its WAL because the file has at most one byte. */
async function enter(path: string, size: number): Promise<Connection | null> {
  if (size <= 1 && existsSync(`${path}-wal`)) return null;
  let connection: Connection | null = null;
  try {
    connection = await connect(path);
    await connection.hold();
    return connection;
  } catch (error) {
    connection?.close();
    if (error instanceof QueueError && PASSING.has(error.code)) throw error;
    return null;
  }
}
