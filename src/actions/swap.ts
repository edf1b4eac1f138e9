import { existsSync, linkSync, readdirSync, renameSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { QueueError } from '../core/errors.ts';
import { sync, syncFile } from '../exec/durable.ts';
import { holdersOf } from '../exec/holders.ts';
import { type Held, holdStore } from '../store/open.ts';

export function refuseWhileUsed(db: string): void {
  const [holder] = holdersOf(db);
  if (holder === undefined) return;
  throw new QueueError(
    'store-busy',
    `${db} is in use by process ${holder}`,
    `end it: queuectl worker stop, or kill ${holder} for a server`,
  );
}

/** What SQLite takes for a part of the database by its name alone. */
const BESIDE = ['-wal', '-journal'];

/** Everybody else is kept out; what a swap that was killed left is put right first. Null: there is no store. */
export async function takeStore(db: string): Promise<Held | null> {
  if (!existsSync(db)) {
    finishSwaps(db, false);
    return null;
  }
  try {
    const held = await holdStore(db);
    finishSwaps(db, held.folded);
    return held;
  } catch (error) {
    if (error instanceof QueueError && error.code === 'store-busy') refuseWhileUsed(db);
    throw error;
  }
}

/** For who has no other reason to take it. */
export async function finishKilledSwap(db: string): Promise<void> {
  if (hiddenNames(db).length > 0) (await takeStore(db))?.letGo();
}

/** A test dies at each of them. */
function step(name: string): void {
  crashPoint(`swap-${name}`);
}

/**
 * Puts the draft in the place of the store that was taken, and answers where that is kept now. At every moment the name leads
 * to the whole old store or to the whole new one, and nothing stands beside it that belongs to the other. Until the old one
 * has lost the name, its second one is hidden: two names with a WAL each would tear it apart.
 */
export function swap(
  draft: string,
  db: string,
  held: Held | null,
  kept: { word: string; now: number },
): string | null {
  const stamp = new Date(kept.now).toISOString().replace(/[-:]|\.\d+/g, '');
  const aside = freeName(`${db}.${kept.word}-${stamp}`);
  const hidden = join(dirname(db), `.${basename(aside)}`);
  step('taken');
  if (held === null) {
    // A WAL whose database is gone.
    moveBeside(db, aside);
    step('cleared');
    sync(dirname(db));
    putInPlace(draft, db);
    syncFile(db);
    return null;
  }
  if (!held.folded) refuseWhileUsed(db);
  linkSync(db, hidden);
  step('linked');
  if (!held.folded) moveBeside(db, hidden);
  step('cleared');
  // No power cut can keep the new name and bring back an old WAL.
  sync(dirname(db));
  renameSync(draft, db);
  step('replaced');
  syncFile(db);
  reveal(hidden, aside);
  step('kept');
  sync(dirname(db));
  return aside;
}

/** A link never replaces anything: somebody may have made a queue there meanwhile. */
function putInPlace(draft: string, db: string): void {
  try {
    linkSync(draft, db);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new QueueError('store-busy', `${db} was made meanwhile, by somebody else`);
  }
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
    const aside = freeName(join(directory, name.slice(1)));
    if (!isSameFile(hidden, db)) reveal(hidden, aside);
    else {
      moveBeside(hidden, folded ? aside : db);
      unlinkSync(hidden);
    }
  }
}

/** Stores that a killed swap left without a name that anybody would look at. */
export function hiddenNames(db: string): string[] {
  const prefix = `.${basename(db)}.`;
  return names(dirname(db)).filter(
    (name) => name.startsWith(prefix) && /^(before|damaged)-\w+Z(\.\d+)?$/.test(name.slice(prefix.length)),
  );
}

/** A worker that has just started may do it, too. */
function reveal(hidden: string, aside: string): void {
  moveBeside(hidden, aside);
  try {
    renameSync(hidden, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function moveBeside(from: string, to: string): void {
  for (const end of BESIDE) if (existsSync(from + end)) renameSync(from + end, to + end);
  rmSync(`${from}-shm`, { force: true });
}

function isSameFile(a: string, b: string): boolean {
  const [one, other] = [a, b].map((path) => statSync(path, { throwIfNoEntry: false }));
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

function freeName(name: string): string {
  let free = name;
  for (let n = 2; existsSync(free); n++) free = `${name}.${n}`;
  return free;
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
