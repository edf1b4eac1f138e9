import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { crashPoint } from '../../../core/crash-point.ts';
import { QueueError } from '../../../core/errors.ts';
import { sync } from '../../../files/durable.ts';
import { holdersOf } from '../../../files/holders.ts';
import { isThere, OTHER_NAME, refuseExisting, refuseUnwritable } from '../../../files/save-as.ts';
import type { CopyOptions } from '../../contract/file-care.ts';
import { checkOwner, refuseUnsafeDrafts, unsafeParts } from './owner.ts';
import { epochsOf } from './peek.ts';
import { takeStore } from './swap.ts';

/** The files that SQLite takes for a part of the database by their names alone. */
const BESIDE = ['-wal', '-shm', '-journal'];
const PART = /-(wal|shm|journal)$/;

/** Throws unless a backup may be written to this file. Returns the epoch of the backup that is there, or null. */
export async function checkTarget(
  target: string,
  location: string,
  { force, withOutput, anyOwner }: CopyOptions,
): Promise<string | null> {
  refuseUnwritable(dirname(target));
  refuseUnsafeDrafts(dirname(target), anyOwner);
  if (!force) refuseExisting(target);
  refuseStore(target, location);
  refusePart(target);
  // A WAL that a killed process left would be read with the new file, as if it were its own.
  if (!force) for (const end of BESIDE) refuseExisting(target + end);
  const replaced = force ? await replacedEpoch(target) : null;
  // Whoever else can write FILE.d could lead the outputs anywhere.
  if (withOutput) checkOwner(target, anyOwner);
  return replaced;
}

const beside = (target: string): string[] => BESIDE.map((end) => target + end).filter(isThere);

/** Throws if this is a store in use, a part of one, or no file at all: `--force` does not replace these either. */
function refuseStore(target: string, location: string): void {
  const stat = lstatSync(target, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isFile() && !stat.isSymbolicLink())
    throw new QueueError('usage', `${target} is not a regular file`, OTHER_NAME);
  const whole = target.replace(PART, '');
  for (const one of new Set([target, whole])) {
    if (existsSync(one) && (isSameFile(one, location) || holdersOf(realpathSync(one)).length > 0))
      throw new QueueError('usage', `${one} is a database that is in use`, OTHER_NAME);
  }
  if (whole !== target) refuseDatabase(whole);
}

/** Throws if this is the name of a part of a database: whoever makes that database would remove it. */
function refusePart(target: string): void {
  if (PART.test(target))
    throw new QueueError(
      'usage',
      `${target} has the name of a file that belongs to ${target.replace(PART, '')}`,
      OTHER_NAME,
    );
}

/** Returns the epoch of the backup that is there, or null. Throws if it is a queue. Only behind refuseStore. */
async function replacedEpoch(target: string): Promise<string | null> {
  if (!lstatSync(target, { throwIfNoEntry: false })?.isFile()) return null;
  const old = await epochsOf(target).catch(() => null);
  if (old?.origin === null)
    throw new QueueError(
      'usage',
      `${target} is a queue, not a backup`,
      'choose another name, or move the queue elsewhere',
    );
  return old?.epoch ?? null;
}

/** Throws if this file is a store, or a part of one. */
export function refuseOverwriting(file: string, location: string): void {
  refuseStore(file, location);
  refuseDatabase(file);
}

/** Throws if this is a database. Only behind refuseStore: closing a database that is open here would drop its locks. */
function refuseDatabase(path: string): void {
  if (isDatabase(path)) throw new QueueError('usage', `${path} is already a database`, OTHER_NAME);
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
 * Puts the draft in the place of a backup that is there. That may have been used as a store, and its last writer killed: what is in its WAL
 * is put into its one file first, and everybody is kept out until it has lost its name. So at every moment the name leads to
 * the whole old backup or to the whole new one. Only of one that SQLite cannot read does the WAL go first: nobody could put
 * the two together, and the new one must never stand beside it. In a directory such as /tmp nobody uses it as a store, and
 * SQLite must not open it there: it is replaced if nothing is beside it.
 */
export async function replaceDatabase(draft: string, target: string, anyOwner: boolean): Promise<void> {
  const exposed = !anyOwner && unsafeParts(target).length > 0;
  // Somebody else's WAL is not read, nor is it ours to remove.
  if (beside(target).length > 0) checkOwner(target, anyOwner);
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
