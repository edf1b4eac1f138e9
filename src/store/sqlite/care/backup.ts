import { existsSync, lstatSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { crashPoint } from '../../../core/crash-point.ts';
import { QueueError } from '../../../core/errors.ts';
import { orNull } from '../../../core/text/language.ts';
import { sync, syncFile } from '../../../files/durable.ts';
import { parentProblems, refuseProblems } from '../../../files/own-files.ts';
import { pidsWithOpen } from '../../../files/read.ts';
import {
  CHOOSE_ANOTHER_NAME,
  isThere,
  putInPlace,
  refuseExisting,
  refuseUnwritable,
} from '../../../files/save-as.ts';
import { newDraft, removeDraft } from '../../../files/write.ts';
import type { CopyOptions, CopyResult } from '../../contract/file-care.ts';
import type { Store } from '../../store.ts';
import { fileId } from '../connection.ts';
import { copySqlite, withCopy } from './copy.ts';
import { headOf } from './odd-file.ts';
import { checkSafety, PART_SUFFIXES, safetyProblems } from './owner.ts';
import { epochsOf } from './peek.ts';
import { lockSqlite } from './swap.ts';

export async function writeBackup<T>(
  location: string,
  file: string,
  options: CopyOptions,
  renew: (copy: Store) => Promise<T>,
): Promise<CopyResult<T>> {
  const target = resolve(file);
  const replacedEpoch = await checkTarget(target, location, options);
  const draft = newDraft(target);
  try {
    crashPoint('before-backup');
    await copySqlite(location, draft);
    const renewResult = await withCopy(draft, renew);
    syncFile(draft);
    crashPoint('in-backup');
    if (options.force) await replaceDatabase(draft, target, options.anyOwner);
    else putInPlace(draft, target);
    crashPoint('after-backup');
    syncFile(target);
    // Another user who can write to FILE.d could redirect the removal of its outputs with links.
    const isSafe = options.anyOwner || safetyProblems(target).length === 0;
    return {
      file: target,
      bytes: statSync(target).size,
      renewResult,
      replacedEpoch: isSafe ? replacedEpoch : null,
    };
  } finally {
    removeDraft(draft);
  }
}

const PART_SUFFIX = /-(wal|shm|journal)$/;

/** Throws unless a backup may be written to this file. Returns the epoch of the backup that it replaces, or null. */
async function checkTarget(
  target: string,
  location: string,
  { force, withOutput, anyOwner }: CopyOptions,
): Promise<string | null> {
  refuseUnwritable(dirname(target));
  if (!anyOwner) refuseProblems(parentProblems(dirname(target)));
  if (!force) refuseExisting(target);
  refuseStore(target, location);
  refusePart(target);
  // SQLite would treat a WAL that a killed process left as a part of the new file.
  if (!force) for (const end of PART_SUFFIXES) refuseExisting(target + end);
  const replaced = force ? await replacedEpoch(target) : null;
  // Another user who can write to FILE.d could redirect the outputs with links.
  if (withOutput) checkSafety(target, anyOwner);
  return replaced;
}

const existingParts = (target: string): string[] => PART_SUFFIXES.map((end) => target + end).filter(isThere);

/** Throws if this is a database in use, a part of a database, or neither a regular file nor a link. Not even `--force` replaces these. */
function refuseStore(target: string, location: string): void {
  const stat = lstatSync(target, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isFile() && !stat.isSymbolicLink())
    throw new QueueError('usage', `${target} is not a regular file`, CHOOSE_ANOTHER_NAME);
  const mainFile = target.replace(PART_SUFFIX, '');
  for (const one of new Set([target, mainFile])) {
    if (existsSync(one) && (fileId(one) === fileId(location) || pidsWithOpen(realpathSync(one)).length > 0))
      throw new QueueError('usage', `${one} is a database that is in use`, CHOOSE_ANOTHER_NAME);
  }
  if (mainFile !== target) refuseDatabase(mainFile);
}

/** Throws if this is the name of a part of a database, because SQLite removes such a file when it creates the database. */
function refusePart(target: string): void {
  if (PART_SUFFIX.test(target))
    throw new QueueError(
      'usage',
      `${target} has the name of a file that belongs to ${target.replace(PART_SUFFIX, '')}`,
      CHOOSE_ANOTHER_NAME,
    );
}

/** Returns the epoch of the backup at this path, or null. Throws if it is a queue. Call `refuseStore` first, which excludes a database in use. */
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

/** Throws if this file is a database, or a part of one. */
export function refuseOverwriting(file: string, location: string): void {
  refuseStore(file, location);
  refuseDatabase(file);
}

/** Throws if this is a database. Call `refuseStore` first: reading a database that this process has open would drop its locks. */
function refuseDatabase(path: string): void {
  if (isDatabase(path)) throw new QueueError('usage', `${path} is already a database`, CHOOSE_ANOTHER_NAME);
}

const MAGIC = 'SQLite format 3\0';

function isDatabase(path: string): boolean {
  return (
    orNull(() => statSync(path).isFile() && headOf(path, MAGIC.length).toString('latin1') === MAGIC) ?? false
  );
}

/**
 * Replaces a backup with the draft. At every moment the name leads to the whole old backup or to the whole new one.
 *
 * - The old backup may have been used as a store by a process that was killed. So its WAL is copied into it first, and it is
 *   locked until it has lost its name.
 * - If SQLite cannot read the old backup, its WAL is removed first, because the new backup must never have that WAL beside it.
 * - In a directory such as /tmp SQLite must not open the old backup, which is replaced only if no -wal, -shm or -journal is beside it.
 */
async function replaceDatabase(draft: string, target: string, anyOwner: boolean): Promise<void> {
  const isExposed = !anyOwner && safetyProblems(target).length > 0;
  // The WAL of another user is neither read nor removed.
  if (existingParts(target).length > 0) checkSafety(target, anyOwner);
  const isStore = !isExposed && isDatabase(target) && !lstatSync(target).isSymbolicLink();
  const old = isStore ? await lockSqlite(target) : null;
  try {
    for (const one of existingParts(target)) rmSync(one);
    crashPoint('cleared-backup');
    // After a power cut the old WAL must not be beside the new backup.
    sync(dirname(target));
    putInPlace(draft, target, true);
    crashPoint('replaced-backup');
  } finally {
    old?.unlock();
  }
}
