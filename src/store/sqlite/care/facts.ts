import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { stateBeside } from '../../../state/state-directory.ts';
import { connect } from '../connection.ts';
import { translate } from '../failures.ts';
import { refuseUnreleased, SCHEMA_VERSION, version } from '../migrate.ts';
import * as sql from '../sql/care.ts';
import { refuseReading } from './current-files.ts';
import { fileSystemOf } from './network.ts';
import { refuseNoStore, wasOurs } from './odd-file.ts';
import { unsafeParts } from './owner.ts';
import { lookAt } from './peek.ts';
import { modeOf } from './safe-path.ts';

export interface StoreFacts {
  path: string;
  exists: boolean;
  fileSystem: { name: string | null; network: boolean };
  freeBytes: number;
  walBytes: number;
  /** What belongs to another user, or can be written by others. */
  unsafe: { says: string; fix: string }[];
  /** What others can read. */
  readable: string[];
  /** Null: it could not be read. */
  schema: { found: number; known: number } | null;
  journalMode?: string;
  synchronous?: number;
  /** What the quick check found. */
  problems?: string[];
  /** Why the store cannot be read. */
  error?: { says: string; fix: string | null };
}

/** Looks at a store without making or changing anything. `whole` reads it to its end. */
export async function factsOf(location: string, whole: boolean): Promise<StoreFacts> {
  const refusal = await refusalOf(location);
  const asked = resolve(location);
  const path = existsSync(asked) ? realpathSync(asked) : asked;
  const place = nearestDirectory(path);
  const { bavail, bsize } = statfsSync(place);
  const facts: StoreFacts = {
    path,
    exists: existsSync(path),
    fileSystem: fileSystemOf(place),
    freeBytes: Number(bavail) * Number(bsize),
    walBytes: 0,
    unsafe: [],
    readable: [],
    schema: null,
  };
  try {
    facts.walBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    facts.unsafe = unsafeParts(asked);
    facts.readable = readableByOthers(path);
  } catch (error) {
    // Its links go round in circles, or lead where this user may not look.
    return { ...facts, error: told(error, path) };
  }
  if (refusal !== null) return { ...facts, error: refusal };
  if (!facts.exists && !wasOurs(path)) return facts;
  try {
    refuseNoStore(path);
    // Whoever has the file open keeps a WAL beside it. That may be this process, and a descriptor that is closed would drop
    // its locks: then the file is not opened but by SQLite, which knows the mode.
    const open = existsSync(`${path}-wal`);
    const unused = !open && isWal(path);
    const connection = await connect(path, lookAt);
    try {
      const wal = open ? Object.values(connection.get('PRAGMA journal_mode')!)[0] === 'wal' : unused;
      facts.schema = { found: refuseUnreleased(connection, version(connection)), known: SCHEMA_VERSION };
      facts.journalMode = wal ? 'wal' : 'delete';
      facts.synchronous = connection.pragma('synchronous');
      if (whole) facts.problems = connection.all(sql.quickCheck).map((row) => String(Object.values(row)[0]));
      if (facts.problems?.[0] === 'ok') facts.problems = [];
    } finally {
      connection.close();
    }
  } catch (error) {
    facts.error = told(error, path);
  }
  return facts;
}

/** Returns why the store must not be opened, not even to look into it. */
async function refusalOf(location: string): Promise<NonNullable<StoreFacts['error']> | null> {
  try {
    await refuseReading(location);
    return null;
  } catch (error) {
    if (!(error instanceof QueueError)) throw error;
    return { says: error.message, fix: error.hint };
  }
}

function told(error: unknown, path: string): NonNullable<StoreFacts['error']> {
  const known = translate(error, path) as Error & { hint?: string };
  return { says: known.message, fix: known.hint ?? null };
}

const WRITE_VERSION_AT = 18;
const WAL = 2;

function isWal(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(WRITE_VERSION_AT + 1);
    return readSync(file, header, 0, header.length, 0) === header.length && header[WRITE_VERSION_AT] === WAL;
  } finally {
    closeSync(file);
  }
}

/** Returns the directory in which the store is, or would be made. */
function nearestDirectory(path: string): string {
  let directory = dirname(path);
  while (!existsSync(directory) && directory !== dirname(directory)) directory = dirname(directory);
  return directory;
}

/** Returns the files that others can read although only their owner should. */
function readableByOthers(path: string): string[] {
  const found: string[] = [];
  const look = (one: string): void => {
    const stat = statSync(one, { throwIfNoEntry: false });
    if (stat !== undefined && (stat.mode & 0o055) !== 0) found.push(`${one} (${modeOf(stat)})`);
  };
  const state = stateBeside(path).path;
  for (const one of [path, `${path}-wal`, `${path}-shm`, state]) look(one);
  try {
    for (const name of readdirSync(state)) look(`${state}/${name}`);
  } catch {
    // None there, or not for us to look at: that is said elsewhere.
  }
  return found;
}
