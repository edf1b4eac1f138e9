import { closeSync, constants, copyFileSync, existsSync, fstatSync, openSync, statSync } from 'node:fs';
import { QueueError } from '../../../core/errors.ts';
import { copyBytes } from '../../../files/write-all.ts';
import { type Connection, connect } from '../connection.ts';
import { translate } from '../failures.ts';
import { makeFile } from './new-file.ts';

/** A store that everybody else is kept out of, so that its file can be read as it is, and replaced. */
export interface Held {
  /** All of it is in its one file. False: SQLite cannot read it, so nobody works on it, and it was left with its WAL. */
  folded: boolean;
  /** Tells whether its name still leads to it. */
  isCurrent(): boolean;
  /** Copies its bytes, damaged or not. */
  copyTo(path: string): void;
  letGo(): void;
}

/** After these it could be read another time; after all others SQLite has no use for the file, nor has anybody else. */
const PASSING = new Set(['store-busy', 'disk-full', 'store-unavailable']);

/** So often in a row it can be replaced by others while it is waited for. */
const MOST_TRIES = 10;

/** While it is held, nothing else in this process may open the file: closing it again would drop the lock. */
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

/** An empty file that is made under this name, and that everybody is kept out of from its first moment with another. */
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

/** Null: SQLite cannot read it, or would forget the WAL of a file that was cut to nothing: to one byte is the same to it. */
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
