import { existsSync, linkSync, lstatSync, renameSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { crashPoint } from '../../../core/crash-point.ts';
import { QueueError } from '../../../core/errors.ts';
import { draftPaths, newDraft, removeDraft } from '../../../files/drafts.ts';
import { sync, syncFile } from '../../../files/durable.ts';
import { namesIn } from '../../../files/names-in.ts';
import { pidsWithOpen } from '../../../files/open-files.ts';
import { isThere } from '../../../files/save-as.ts';
import { type HeldStore, holdNewSqlite, holdSqlite } from './hold.ts';

export function refuseWhileUsed(db: string): void {
  const [holder] = pidsWithOpen(db);
  if (holder === undefined) return;
  throw new QueueError(
    'store-busy',
    `${db} is in use by process ${holder}`,
    `to stop workers: queuectl worker stop. To stop a server: kill ${holder}`,
  );
}

/** The suffixes of the files that are moved with a database, because they hold a part of its contents. */
const MOVED_SUFFIXES = ['-wal', '-journal'];

/** Locks all others out of the store, and completes or undoes swaps that were killed. Returns null if there is no store. */
export async function takeStore(db: string): Promise<HeldStore | null> {
  if (!existsSync(db)) {
    finishSwaps(db, false);
    return null;
  }
  try {
    returnWal(db);
    const held = await holdSqlite(db);
    finishSwaps(db, held.isReadable);
    return held;
  } catch (error) {
    if (error instanceof QueueError && error.code === 'store-busy') refuseWhileUsed(db);
    throw error;
  }
}

/** Moves a hidden WAL back beside a file of at most one byte. All data is in that WAL. Without it, SQLite would see a new database. */
function returnWal(db: string): void {
  if (statSync(db).size > 1 || isThere(`${db}-wal`)) return;
  for (const name of hiddenNames(db)) {
    const hidden = join(dirname(db), name);
    if (isSameFile(hidden, db)) moveOwnParts(hidden, db);
  }
}

/**
 * Takes the name of a store that does not exist, before anything beside it is touched. It creates an empty file that nobody
 * else can open. Throws if another process has created a queue meanwhile.
 */
export async function reserveName(db: string): Promise<HeldStore> {
  const draft = newDraft(db);
  const held = await holdNewSqlite(draft);
  try {
    crashPoint('swap-held');
    linkSync(draft, db);
    crashPoint('swap-named');
    return held;
  } catch (error) {
    held.unlock();
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new QueueError('store-busy', `another process has created ${db} in the meantime`);
  } finally {
    removeDraft(draft);
  }
}

/** Completes or undoes the swaps that were killed, if there are any. */
export async function finishKilledSwap(db: string): Promise<void> {
  if (hiddenNames(db).length > 0) (await takeStore(db))?.unlock();
}

/**
 * Replaces the held store with the draft, and returns the new path of the old store. At every moment the name leads to the whole
 * old store or to the whole new one, and no file beside it belongs to the other one. The second name of the old store stays
 * hidden until the store has lost its first name, because with two visible names it could get two WALs and be damaged.
 */
export function swap(
  draft: string,
  db: string,
  held: HeldStore,
  keptName: { word: string; now: number },
): string {
  const keptPath = unusedKeptPath(`${db}.${keptName.word}-${timestampOf(keptName.now)}`);
  const hidden = hiddenPathOf(keptPath);
  crashPoint('swap-taken');
  if (!held.isReadable) refuseWhileUsed(db);
  refuseReplaced(db, held);
  linkSync(db, hidden);
  crashPoint('swap-linked');
  if (!held.isReadable) moveParts(db, hidden);
  crashPoint('swap-cleared');
  // After a power cut the old WAL must not be beside the new store.
  sync(dirname(db)); // fault-control: sync-before-rename
  refuseReplaced(db, held);
  renameSync(draft, db);
  crashPoint('swap-replaced');
  syncFile(db);
  reveal(hidden, keptPath);
  crashPoint('swap-kept');
  sync(dirname(db));
  return keptPath;
}

/** Moves the draft to a name that `reserveName` has taken. */
export function fillReservedName(draft: string, db: string, now: number): void {
  // There may be a WAL whose database is gone.
  moveParts(db, unusedKeptPath(`${db}.before-${timestampOf(now)}`));
  crashPoint('swap-swept');
  sync(dirname(db));
  renameSync(draft, db);
  crashPoint('swap-placed');
  syncFile(db);
}

/** Throws if the store was replaced meanwhile. No lock protects a file that SQLite cannot read. */
function refuseReplaced(db: string, held: HeldStore): void {
  if (!held.isCurrent())
    throw new QueueError('store-busy', `another process has replaced ${db} in the meantime`);
}

function timestampOf(now: number): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
}

/**
 * Completes or undoes the swaps that were killed. If the old store still has its name, the swap is undone: it gets its WAL
 * back, unless SQLite can read it and has opened it without that WAL (`isReadable`). Otherwise the old store gets its new name.
 * The caller has locked the store or has it open, so nobody else is in the middle of a swap.
 */
export function finishSwaps(db: string, isReadable: boolean): void {
  const directory = dirname(db);
  for (const name of hiddenNames(db)) {
    const hidden = join(directory, name);
    const keptPath = unusedPath(join(directory, name.slice(1)), isThere);
    if (!isSameFile(hidden, db)) reveal(hidden, keptPath);
    else {
      moveOwnParts(hidden, isReadable ? keptPath : db);
      unlinkSync(hidden);
    }
  }
}

/** Returns the hidden names that killed swaps left. */
export function hiddenNames(db: string): string[] {
  return namesIn(dirname(db)).filter((name) => isHiddenName(db, name) && isOwnFile(join(dirname(db), name)));
}

function isHiddenName(db: string, name: string): boolean {
  const prefix = `.${basename(db)}.`;
  return name.startsWith(prefix) && /^(before|damaged)-\w+Z(\.\d+)?$/.test(name.slice(prefix.length));
}

/** Counts the other names of a database that a running or killed restore, repair or backup has created. */
export function countOwnLinks(db: string): number {
  const paths = namesIn(dirname(db)).flatMap((name) => {
    const path = join(dirname(db), name);
    return isHiddenName(db, name) ? [path] : draftPaths(path);
  });
  return paths.filter((path) => isSameFile(path, db)).length;
}

/** Gives a hidden store its new name. Another process that opens the store may do the same at this moment. */
function reveal(hidden: string, keptPath: string): void {
  moveOwnParts(hidden, keptPath);
  renameIfThere(hidden, keptPath);
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function moveParts(from: string, to: string): void {
  for (const end of MOVED_SUFFIXES) if (existsSync(from + end)) renameSync(from + end, to + end);
  rmSync(`${from}-shm`, { force: true });
}

/** Moves the parts of a hidden store, but only those of its owner, because in /tmp other users may have put files beside it. */
function moveOwnParts(from: string, to: string): void {
  const owner = ownerOf(from);
  if (owner === null) return;
  for (const end of MOVED_SUFFIXES) if (ownerOf(from + end) === owner) renameIfThere(from + end, to + end);
  if (ownerOf(`${from}-shm`) === owner) rmSync(`${from}-shm`, { force: true });
}

/** Tells whether this is a regular file of this user, because others can create files and links with such names. */
function isOwnFile(path: string): boolean {
  const owner = ownerOf(path);
  return owner !== null && owner === (process.getuid?.() ?? owner);
}

/** Returns the owner of a regular file, or null. Does not follow links. */
function ownerOf(path: string): number | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.uid : null;
}

function isSameFile(a: string, b: string): boolean {
  const [one, other] = [a, b].map((path) => lstatSync(path, { throwIfNoEntry: false }));
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

function hiddenPathOf(keptPath: string): string {
  return join(dirname(keptPath), `.${basename(keptPath)}`);
}

/** Returns a path that is free for a store and all its parts, hidden or not. */
function unusedKeptPath(name: string): string {
  const ends = ['', ...MOVED_SUFFIXES];
  return unusedPath(name, (one) =>
    [one, hiddenPathOf(one)].some((path) => ends.some((end) => isThere(path + end))),
  );
}

function unusedPath(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let n = 2; isTaken(free); n++) free = `${name}.${n}`;
  return free;
}
