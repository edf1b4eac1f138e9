import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { QueueError } from '../core/errors.ts';
import { sync } from '../exec/durable.ts';
import { lacksHardLinks } from '../exec/hard-links.ts';
import { holdersOf } from '../exec/holders.ts';
import { checkOwner, epochsOf, isExposed } from '../store/open.ts';
import { isThere, takeStore } from './swap.ts';

/** What SQLite takes for a part of the database by its name alone. */
const BESIDE = ['-wal', '-shm', '-journal'];
const PART = /-(wal|shm|journal)$/;
const OTHER_NAME = 'choose another name';

/** Said of the directory: nobody knows the draft that could not be made in it. */
export function refusePlace(directory: string): void {
  try {
    if (!statSync(directory).isDirectory())
      throw new QueueError('no-such-file', `${directory} is not a directory`, OTHER_NAME);
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof QueueError) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new QueueError(
        'no-such-file',
        `${directory} does not exist`,
        'create it first, or choose another name',
      );
    throw new QueueError('not-permitted', `${directory} is not writable`, OTHER_NAME);
  }
}

export function refuseExisting(target: string): void {
  if (isThere(target)) throw exists(target);
}

/** A WAL that a killed process left would be read with the new file, as if it were its own. */
export function refuseBeside(target: string): void {
  for (const one of beside(target)) throw exists(one);
}

const exists = (path: string): QueueError => new QueueError('file-exists', `${path} already exists`);

const beside = (target: string): string[] => BESIDE.map((end) => target + end).filter(isThere);

/** Nor with --force: a store that is in use is nobody's to replace, nor its WAL, nor what is no file at all. */
export function refuseStore(target: string, location: string): void {
  const stat = lstatSync(target, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isFile() && !stat.isSymbolicLink())
    throw new QueueError('usage', `${target} is not a regular file`, OTHER_NAME);
  const whole = target.replace(PART, '');
  for (const one of new Set([target, whole])) {
    if (existsSync(one) && (isSameFile(one, location) || holdersOf(realpathSync(one)).length > 0))
      throw new QueueError('usage', `${one} is a store in use`, OTHER_NAME);
  }
  if (whole !== target) refuseDatabase(whole);
}

/** The first who makes that database would remove it. */
export function refusePart(target: string): void {
  if (PART.test(target))
    throw new QueueError(
      'usage',
      `${target} has the name of a file that belongs to ${target.replace(PART, '')}`,
      OTHER_NAME,
    );
}

/**
 * The epoch of the backup that is there; null: there is none. A queue that never was one is nobody's to replace. Only behind
 * refuseStore.
 */
export async function replacedEpoch(target: string): Promise<string | null> {
  if (!lstatSync(target, { throwIfNoEntry: false })?.isFile()) return null;
  const old = await epochsOf(target);
  if (old?.origin === null)
    throw new QueueError(
      'usage',
      `${target} is a queue, not a backup`,
      'choose another name, or move the queue elsewhere',
    );
  return old?.epoch ?? null;
}

/** Only behind refuseStore: to open and close a database that this process has open would drop its locks. */
export function refuseDatabase(path: string): void {
  if (isDatabase(path)) throw new QueueError('usage', `${path} is a database`, OTHER_NAME);
}

const MAGIC = 'SQLite format 3\0';

function isDatabase(path: string): boolean {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    return false;
  }
  try {
    const header = Buffer.alloc(MAGIC.length);
    return readSync(file, header, 0, header.length, 0) > 0 && header.toString('latin1') === MAGIC;
  } finally {
    closeSync(file);
  }
}

function isSameFile(a: string, b: string): boolean {
  const [one, other] = [statSync(a), statSync(b)];
  return one.ino === other.ino && one.dev === other.dev;
}

/**
 * In the place of a backup that is there. That may have been used as a store, and its last writer killed: what is in its WAL
 * is put into its one file first, and everybody is kept out until it has lost its name. So at every moment the name leads to
 * the whole old backup or to the whole new one. Only of one that SQLite cannot read does the WAL go first: nobody could put
 * the two together, and the new one must never stand beside it. In a directory such as /tmp nobody uses it as a store, and
 * SQLite must not open it there: it is replaced if nothing is beside it.
 */
export async function replaceDatabase(draft: string, target: string, anyOwner: boolean): Promise<void> {
  const exposed = !anyOwner && (await isExposed(target));
  // Somebody else's WAL is not read, nor is it ours to remove.
  if (beside(target).length > 0) await checkOwner(target, anyOwner);
  const isStore = !exposed && isDatabase(target) && !lstatSync(target).isSymbolicLink();
  const old = isStore ? await takeStore(target) : null;
  try {
    for (const one of beside(target)) rmSync(one);
    crashPoint('cleared-backup');
    // No power cut can keep the new name and bring back an old WAL.
    sync(dirname(target));
    renameSync(draft, target);
    crashPoint('replaced-backup');
  } finally {
    old?.letGo();
  }
}

/** A link never replaces anything, whoever came in between. */
export function putInPlace(draft: string, target: string): void {
  try {
    linkSync(draft, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw exists(target);
    if (!lacksHardLinks(error)) throw error;
    reserve(target);
    renameSync(draft, target);
  }
}

/** Without hard links an empty file takes the name first, which only one can; whoever dies then leaves it, and told nobody. */
function reserve(target: string): void {
  try {
    closeSync(openSync(target, 'wx', 0o600));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? exists(target) : error;
  }
}
