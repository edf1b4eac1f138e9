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
import type { StoreFacts } from '../open.ts';
import { connect } from './connection.ts';
import { translate } from './failures.ts';
import { refuseUnreleased, SCHEMA_VERSION, version } from './migrate.ts';
import { fileSystemOf } from './network.ts';
import { refuseNoStore, wasOurs } from './odd-file.ts';
import { unsafeParts } from './owner.ts';
import { lookAt } from './peek.ts';
import { modeOf } from './safe-path.ts';
import * as sql from './sql/care.ts';

/** What a look from outside tells. Nothing is made or changed; as a `whole` it is read to its end. */
export async function inspectSqlite(
  location: string,
  whole: boolean,
  refusal: NonNullable<StoreFacts['error']> | null,
): Promise<StoreFacts> {
  const asked = resolve(location);
  const path = existsSync(asked) ? realpathSync(asked) : asked;
  const place = nearestDirectory(path);
  const { bavail, bsize } = statfsSync(place);
  const facts: StoreFacts = {
    path,
    exists: existsSync(path),
    stateDirectory: `${path}.d`,
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

/** Where the store is, or would be made. */
function nearestDirectory(path: string): string {
  let directory = dirname(path);
  while (!existsSync(directory) && directory !== dirname(directory)) directory = dirname(directory);
  return directory;
}

/** What others can read although it should be for its owner alone. */
function readableByOthers(path: string): string[] {
  const found: string[] = [];
  const look = (one: string): void => {
    const stat = statSync(one, { throwIfNoEntry: false });
    if (stat !== undefined && (stat.mode & 0o055) !== 0) found.push(`${one} (${modeOf(stat)})`);
  };
  for (const one of [path, `${path}-wal`, `${path}-shm`, `${path}.d`]) look(one);
  try {
    for (const name of readdirSync(`${path}.d`)) look(`${path}.d/${name}`);
  } catch {
    // None there, or not for us to look at: that is said elsewhere.
  }
  return found;
}
