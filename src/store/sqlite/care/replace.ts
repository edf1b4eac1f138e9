import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { newDraft, removeDraft } from '../../../files/drafts.ts';
import { syncFile } from '../../../files/durable.ts';
import type { Replaced, ReplaceSteps } from '../../contract/file-care.ts';
import { copySqlite, withCopy } from './copy.ts';
import { refuseSecondName } from './current-files.ts';
import { checkOwner } from './owner.ts';
import { peekSqlite } from './peek.ts';
import { fillName, refuseWhileUsed, swap, takeName, takeStore } from './swap.ts';

export async function replaceStore<T>(
  location: string,
  file: string,
  anyOwner: boolean,
  steps: ReplaceSteps<T>,
): Promise<Replaced<T> | null> {
  const db = databasePath(location);
  const source = resolve(file);
  refuseMissing(source, db);
  await refuseForeignFile(source);
  checkOwner(resolve(location), anyOwner);
  await refuseSecondName(db);
  refuseWhileUsed(db);
  if (!(await steps.begin(existsSync(location)))) return null;
  mkdirSync(dirname(db), { recursive: true, mode: 0o700 });
  const draft = newDraft(db);
  try {
    await copySqlite(source, draft);
    const made = await withCopy(draft, steps.renew);
    syncFile(draft);
    if (existsSync(db)) steps.ready();
    return { file: source, db, made, kept: await moveIntoPlace(draft, db, steps) };
  } finally {
    // A draft that still exists has not become the store.
    steps.ended(!existsSync(draft));
    removeDraft(draft);
  }
}

/** Returns the path of the database, with links resolved if it exists. */
export function databasePath(location: string): string {
  return existsSync(location) ? realpathSync(location) : resolve(location);
}

/** Moves the draft to the path of the store. Returns the new path of the old store, or null if there was none. */
async function moveIntoPlace<T>(draft: string, db: string, steps: ReplaceSteps<T>): Promise<string | null> {
  const old = await takeStore(db);
  const held = old ?? (await takeName(db));
  try {
    steps.held();
    if (old !== null) return swap(draft, db, old, { word: 'before', now: steps.now() });
    fillName(draft, db, steps.now());
    return null;
  } finally {
    held.unlock();
  }
}

function refuseMissing(source: string, db: string): void {
  if (!existsSync(source)) throw new QueueError('no-such-file', `${source} does not exist`);
  if (existsSync(db) && realpathSync(source) === db)
    throw new QueueError(
      'usage',
      `${source} is the database to be replaced, not a backup`,
      'use the backup file as the argument, and --db for the database to replace',
    );
}

/** Throws if the file is not a queuectl database, before the user is asked whether to replace the store. */
async function refuseForeignFile(source: string): Promise<void> {
  try {
    await (await peekSqlite(source))?.close();
  } catch (error) {
    if (!(error instanceof QueueError) || error.code !== 'not-a-database') throw error;
    throw new QueueError(error.code, error.message, 'use a file created by queuectl backup');
  }
}
