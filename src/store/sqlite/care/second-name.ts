import { lstatSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { shellWord } from '../../../core/text/shell-quote.ts';
import { isMountPoint, namesIn } from '../../../files/read.ts';
import { draftPaths } from '../../../files/write.ts';

/** Returns the second name that a restore or repair gives the old store before the new one takes the first name. */
export const secondNameOf = (db: string): string => `${db}.before-restore`;

/**
 * Throws if the database has two names or is mounted as a single file. SQLite finds the -wal and -shm files by the name of the
 * database. So processes that use different names would not see each other's jobs, and would overwrite them.
 */
export function refuseSecondName(db: string, stat = statSync(db, { throwIfNoEntry: false })): void {
  if (!stat?.isFile()) return;
  const names = stat.nlink > 1 ? countNames(db) : 1;
  const word = shellWord(db);
  if (names > 1)
    throw new QueueError(
      'two-names',
      `${db} has ${names} names (hard links), and SQLite would use separate -wal and -shm files for each of them`,
      `find the other names (find ${shellWord(dirname(db))} -xdev -samefile ${word}) and remove them. Or, while nothing uses the queue, replace it with a copy: cp --reflink=auto ${word} ${word}.copy && mv ${word}.copy ${word}`,
    );
  if (isMountPoint(db))
    throw new QueueError(
      'two-names',
      `${db} is mounted as a single file, and its -wal and -shm files are not shared with the original directory`,
      `mount its directory instead, for example docker run -v /path/of/its/directory:${shellWord(dirname(db))}`,
    );
}

/** Counts the names (hard links) without those that a restore, repair or backup creates for a moment. */
function countNames(db: string): number {
  for (;;) {
    const before = statSync(db);
    const drafts = namesIn(dirname(db)).flatMap((name) => draftPaths(join(dirname(db), name)));
    const ownNames = [secondNameOf(db), ...drafts].filter((path) => isSameFile(path, db)).length;
    const after = statSync(db);
    // If the two differ, a name was created or removed meanwhile, and the links are counted again.
    if (before.ino === after.ino && before.nlink === after.nlink) return after.nlink - ownNames;
  }
}

/** Removes the second name that a killed restore or repair left. The caller has the store open, so none is running. */
export function removeSecondName(db: string): void {
  if (isSameFile(secondNameOf(db), db)) rmSync(secondNameOf(db), { force: true });
}

function isSameFile(a: string, b: string): boolean {
  const [one, other] = [a, b].map((path) => lstatSync(path, { throwIfNoEntry: false }));
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}
