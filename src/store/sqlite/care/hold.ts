import { closeSync, constants, copyFileSync, existsSync, fstatSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { copyBytes } from '../../../files/write-all.ts';
import { type Connection, connect } from '../connection.ts';
import { translate } from '../failures.ts';
import { fileOf } from '../live-files.ts';

/** A store that is locked for everybody else, so that its file can be read and replaced. */
export interface HeldStore {
  /** Tells whether the WAL is folded into the file. If SQLite cannot read the file, nobody uses it, and its WAL was left. */
  folded: boolean;
  /** Tells whether its name still leads to it. */
  isCurrent(): boolean;
  /** Copies its bytes, damaged or not. */
  copyTo(path: string): void;
  unlock(): void;
}

/** Errors after which a later try may succeed. After all others SQLite cannot read the file. */
const PASSING = new Set(['store-busy', 'disk-full', 'store-unavailable']);

/** The file may be replaced this many times in a row while this process waits for it. */
const MOST_TRIES = 10;

/** Holds a store. Nothing else in this process may open the file meanwhile, because closing it would drop the lock. */
export async function holdSqlite(path: string): Promise<HeldStore> {
  for (let tries = 1; ; tries++) {
    const held = await holdOnce(path);
    // While this process waited, another restore or repair may have moved the file away.
    if (held.isCurrent()) return held;
    held.unlock();
    if (tries === MOST_TRIES)
      throw new QueueError('store-busy', `${path} is being replaced repeatedly by another process`);
  }
}

/** Creates an empty file and holds it, so that nobody gets in when it receives another name. */
export async function holdNewSqlite(path: string): Promise<HeldStore> {
  makeFile(path);
  return holdOnce(path);
}

async function holdOnce(path: string): Promise<HeldStore> {
  const file = fileOf(path);
  const raw = open(path);
  let connection: Connection | null;
  try {
    connection = await enter(path, fstatSync(raw).size);
  } catch (error) {
    closeSync(raw);
    throw error;
  }
  const folded = connection !== null;
  return {
    folded,
    isCurrent: () => fileOf(path) === file,
    copyTo(target) {
      copyBytes(raw, target);
      if (!folded && existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${target}-wal`);
    },
    unlock() {
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

/** Makes the file of a draft before SQLite does, so that nobody else can read it even for a moment. */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // The error names the directory of the target, because nobody knows a draft by its name.
    throw translate(error, dirname(dirname(path)));
  }
}
