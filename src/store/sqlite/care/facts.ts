import { existsSync, readdirSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { stateBeside } from '../../../state/state-directory.ts';
import { translate } from '../failures.ts';
import { refuseUnreleased, SCHEMA_VERSION, version } from '../migrate.ts';
import * as sql from '../sql/care.ts';
import { lines } from './check.ts';
import { refuseReading } from './current-files.ts';
import { fileSystemOf } from './network.ts';
import { headOf, refuseNoStore, wasOurs } from './odd-file.ts';
import { unsafeParts } from './owner.ts';
import { look } from './peek.ts';
import { modeOf } from './safe-path.ts';

export interface StoreFacts {
  path: string;
  exists: boolean;
  fileSystem: ReturnType<typeof fileSystemOf>;
  freeBytes: number;
  walBytes: number;
  /** The parts that belong to another user, or that others can write. */
  unsafe: { says: string; fix: string }[];
  /** The files that others can read. */
  readable: string[];
  /** Null if it could not be read. */
  schema: { found: number; known: number } | null;
  journalMode?: string;
  synchronous?: number;
  /** The findings of the quick check. Undefined if it was not made. */
  problems?: string[];
  /** Tells why the store cannot be read. */
  error?: { says: string; fix: string | null };
}

/** Looks at a store without changing anything. `whole` reads it to its end. */
export async function factsOf(location: string, whole: boolean): Promise<StoreFacts> {
  // A store may be one that must not be opened, not even to look into it.
  const refusal = await refuseReading(location).then(
    () => null,
    (error) => told(error, location),
  );
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
    // Its links form a loop, or lead to a directory that this user may not read.
    return { ...facts, error: told(error, path) };
  }
  if (refusal !== null) return { ...facts, error: refusal };
  if (!facts.exists && !wasOurs(path)) return facts;
  try {
    refuseNoStore(path);
    // A process that has the file open keeps a WAL beside it. It may be this process, and closing a descriptor would drop its
    // locks. Then only SQLite opens the file, and tells the mode.
    const open = existsSync(`${path}-wal`);
    const unused = !open && headOf(path, WRITE_VERSION_AT + 1)[WRITE_VERSION_AT] === WAL;
    await look(path, (connection) => {
      const wal = open ? Object.values(connection.get('PRAGMA journal_mode')!)[0] === 'wal' : unused;
      facts.schema = { found: refuseUnreleased(connection, version(connection)), known: SCHEMA_VERSION };
      facts.journalMode = wal ? 'wal' : 'delete';
      facts.synchronous = connection.pragma('synchronous');
      if (whole) facts.problems = lines(connection, sql.quickCheck).filter((line) => line !== 'ok');
    });
  } catch (error) {
    facts.error = told(error, path);
  }
  return facts;
}

function told(error: unknown, path: string): NonNullable<StoreFacts['error']> {
  const known = translate(error, path) as Error & { hint?: string };
  return { says: known.message, fix: known.hint ?? null };
}

/** The header of a database says at this byte that it is in WAL mode. */
const WRITE_VERSION_AT = 18;
const WAL = 2;

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
    // It does not exist or may not be read, which other findings report.
  }
  return found;
}
