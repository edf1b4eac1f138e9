import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { newDraft, removeDraft } from '../../../files/drafts.ts';
import { syncFile } from '../../../files/durable.ts';
import type { ReplaceResult, ReplaceSteps } from '../../contract/file-care.ts';
import { copySqlite, withCopy } from './copy.ts';
import { refuseSecondName } from './current-files.ts';
import { checkSafety } from './owner.ts';
import { peekSqlite } from './peek.ts';
import { fillReservedName, refuseWhileUsed, reserveName, swap, takeStore } from './swap.ts';

export async function replaceStore<T>(
  location: string,
  file: string,
  anyOwner: boolean,
  steps: ReplaceSteps<T>,
): Promise<ReplaceResult<T> | null> {
  const db = databasePath(location);
  const source = resolve(file);
  refuseWrongSource(source, db);
  await refuseForeignFile(source);
  checkSafety(resolve(location), anyOwner);
  await refuseSecondName(db);
  refuseWhileUsed(db);
  if (!(await steps.begin(existsSync(location)))) return null;
  mkdirSync(dirname(db), { recursive: true, mode: 0o700 });
  const draft = newDraft(db);
  try {
    await copySqlite(source, draft);
    const renewResult = await withCopy(draft, steps.renew);
    syncFile(draft);
    if (existsSync(db)) steps.onReady();
    return { file: source, db, renewResult, kept: await moveIntoPlace(draft, db, steps) };
  } finally {
    // A draft that still exists has not become the store.
    steps.onEnded(!existsSync(draft));
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
  const held = old ?? (await reserveName(db));
  try {
    steps.onHeld();
    if (old !== null) return swap(draft, db, old, { word: 'before', now: steps.now() });
    fillReservedName(draft, db, steps.now());
    return null;
  } finally {
    held.unlock();
  }
}

function refuseWrongSource(source: string, db: string): void {
  if (!existsSync(source)) throw new QueueError('no-such-file', `${source} does not exist`);
  if (existsSync(db) && realpathSync(source) === db)
    throw new QueueError(
      'usage',
      `${source} is the database to be replaced, not a backup`,
      'use the backup file as the argument, and --db for the database to replace',
    );
}

/** Throws if the file cannot be opened as a queuectl database. */
async function refuseForeignFile(source: string): Promise<void> {
  try {
    await (await peekSqlite(source))?.close();
  } catch (error) {
    if (!(error instanceof QueueError) || error.code !== 'not-a-database') throw error;
    throw new QueueError(error.code, error.message, 'use a file created by queuectl backup');
  }
}
