import { existsSync, linkSync, lstatSync, renameSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { crashPoint } from '../../../core/crash-point.ts';
import { QueueError } from '../../../core/errors.ts';
import { draftsNamed, newDraft, removeDraft } from '../../../files/drafts.ts';
import { sync, syncFile } from '../../../files/durable.ts';
import { holdersOf } from '../../../files/holders.ts';
import { namesIn } from '../../../files/names-in.ts';
import { isThere } from '../../../files/save-as.ts';
import { type Held, holdNewSqlite, holdSqlite } from './hold.ts';

export function refuseWhileUsed(db: string): void {
  const [holder] = holdersOf(db);
  if (holder === undefined) return;
  throw new QueueError(
    'store-busy',
    `${db} is in use by process ${holder}`,
    `to stop workers: queuectl worker stop. To stop a server: kill ${holder}`,
  );
}

/** The files that SQLite takes for a part of the database by their names alone. */
const BESIDE = ['-wal', '-journal'];

/** Keeps everybody else out of the store, and completes a swap that was killed. Returns null if there is no store. */
export async function takeStore(db: string): Promise<Held | null> {
  if (!existsSync(db)) {
    finishSwaps(db, false);
    return null;
  }
  try {
    returnWal(db);
    const held = await holdSqlite(db);
    finishSwaps(db, held.folded);
    return held;
  } catch (error) {
    if (error instanceof QueueError && error.code === 'store-busy') refuseWhileUsed(db);
    throw error;
  }
}

/** Moves a hidden WAL back beside an empty file. All data is in that WAL, and without it SQLite would see a new database. */
function returnWal(db: string): void {
  if (statSync(db).size > 1 || isThere(`${db}-wal`)) return;
  for (const name of hiddenNames(db)) {
    const hidden = join(dirname(db), name);
    if (isSameFile(hidden, db)) moveOwnBeside(hidden, db);
  }
}

/**
 * The name of a store that is not there, taken before anything beside it is touched: an empty file that nobody else gets into.
 * Where somebody has made a queue meanwhile, that stays.
 */
export async function takeName(db: string): Promise<Held> {
  const draft = newDraft(db);
  const held = await holdNewSqlite(draft);
  try {
    step('held');
    linkSync(draft, db);
    step('named');
    return held;
  } catch (error) {
    held.letGo();
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new QueueError('store-busy', `another process has created ${db} in the meantime`);
  } finally {
    removeDraft(draft);
  }
}

/** Completes a swap that was killed, if there is one. */
export async function finishKilledSwap(db: string): Promise<void> {
  if (hiddenNames(db).length > 0) (await takeStore(db))?.letGo();
}

/** Marks a step of the swap. Tests kill the process at each of them. */
function step(name: string): void {
  crashPoint(`swap-${name}`);
}

/**
 * Puts the draft in the place of the store that was taken, and answers where that is kept now. At every moment the name leads
 * to the whole old store or to the whole new one, and nothing stands beside it that belongs to the other. Until the old one
 * has lost the name, its second one is hidden: two names with a WAL each would tear it apart.
 */
export function swap(draft: string, db: string, held: Held, kept: { word: string; now: number }): string {
  const aside = freeName(`${db}.${kept.word}-${stampOf(kept.now)}`);
  const hidden = hiddenOf(aside);
  step('taken');
  if (!held.folded) refuseWhileUsed(db);
  refuseReplaced(db, held);
  linkSync(db, hidden);
  step('linked');
  if (!held.folded) moveBeside(db, hidden);
  step('cleared');
  // No power cut can keep the new name and bring back an old WAL.
  sync(dirname(db)); // fault-control: sync-before-rename
  refuseReplaced(db, held);
  renameSync(draft, db);
  step('replaced');
  syncFile(db);
  reveal(hidden, aside);
  step('kept');
  sync(dirname(db));
  return aside;
}

/** Puts the draft where no store was, under the name that was taken. */
export function fillName(draft: string, db: string, now: number): void {
  // A WAL whose database is gone.
  moveBeside(db, freeName(`${db}.before-${stampOf(now)}`));
  step('swept');
  sync(dirname(db));
  renameSync(draft, db);
  step('placed');
  syncFile(db);
}

/** Throws if the store was replaced meanwhile: no lock protects a file that SQLite cannot read. */
function refuseReplaced(db: string, held: Held): void {
  if (!held.isCurrent())
    throw new QueueError('store-busy', `another process has replaced ${db} in the meantime`);
}

function stampOf(now: number): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
}

/**
 * What a swap left that was killed. While the store still had its name, it is as if nothing had been done: what SQLite cannot
 * read gets its WAL back; what it has read without, perhaps changed, does not. After that the old store gets its new name.
 * Only for who holds the store, or has it open: nobody else is in the middle of a swap then.
 */
export function finishSwaps(db: string, folded: boolean): void {
  const directory = dirname(db);
  for (const name of hiddenNames(db)) {
    const hidden = join(directory, name);
    const aside = revealedName(join(directory, name.slice(1)));
    if (!isSameFile(hidden, db)) reveal(hidden, aside);
    else {
      moveOwnBeside(hidden, folded ? aside : db);
      unlinkSync(hidden);
    }
  }
}

/** Returns the hidden names that a killed swap left. */
export function hiddenNames(db: string): string[] {
  return namesIn(dirname(db)).filter((name) => isHiddenName(db, name) && isOwn(join(dirname(db), name)));
}

function isHiddenName(db: string, name: string): boolean {
  const prefix = `.${basename(db)}.`;
  return name.startsWith(prefix) && /^(before|damaged)-\w+Z(\.\d+)?$/.test(name.slice(prefix.length));
}

/** Counts the other names of a database that a restore, repair or backup made and has not removed yet, or was killed before. */
export function countOwnLinks(db: string): number {
  const own = namesIn(dirname(db)).flatMap((name) => {
    const path = join(dirname(db), name);
    return isHiddenName(db, name) ? [path] : draftsNamed(path);
  });
  return own.filter((path) => isSameFile(path, db)).length;
}

/** Gives a hidden store its new name. A worker that has just started may do the same at this moment. */
function reveal(hidden: string, aside: string): void {
  moveOwnBeside(hidden, aside);
  renameIfThere(hidden, aside);
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function moveBeside(from: string, to: string): void {
  for (const end of BESIDE) if (existsSync(from + end)) renameSync(from + end, to + end);
  rmSync(`${from}-shm`, { force: true });
}

/** Moves the parts of a hidden store, but only those of its owner: in /tmp other users may have put files beside it. */
function moveOwnBeside(from: string, to: string): void {
  const owner = ownerOf(from);
  for (const end of BESIDE)
    if (owner !== null && ownerOf(from + end) === owner) renameIfThere(from + end, to + end);
  if (owner !== null && ownerOf(`${from}-shm`) === owner) rmSync(`${from}-shm`, { force: true });
}

/** Tells whether this is a file of this user: others can make files with such names, and links to ours. */
function isOwn(path: string): boolean {
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

function hiddenOf(aside: string): string {
  return join(dirname(aside), `.${basename(aside)}`);
}

/** Returns a name at which no file exists that would be taken for a part of the store. */
function freeName(name: string): string {
  const isTaken = (one: string): boolean => ['', ...BESIDE].some((end) => isThere(one + end));
  let free = name;
  for (let n = 2; isTaken(free) || isTaken(hiddenOf(free)); n++) free = `${name}.${n}`;
  return free;
}

/** Returns a free name for a hidden store, whose WAL may have that name already. */
function revealedName(name: string): string {
  let free = name;
  for (let n = 2; isThere(free); n++) free = `${name}.${n}`;
  return free;
}
