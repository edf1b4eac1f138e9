import { closeSync, existsSync, mkdirSync, openSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { shellWord } from '../../../core/text/shell-quote.ts';
import { countOf } from '../../../core/text/words.ts';
import { syncFile } from '../../../files/durable.ts';
import { newDraft, removeDraft } from '../../../files/write.ts';
import type { ReplaceResult, ReplaceSteps } from '../../contract/file-care.ts';
import type { Connection } from '../connection.ts';
import { translateError } from '../failures.ts';
import { problemsOf } from './check.ts';
import { copySqlite, withCopy } from './copy.ts';
import { peekSqlite } from './peek.ts';
import { lockSqlite, refuseReplacing, swap } from './swap.ts';

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
  refuseReplacing(location, db, anyOwner);
  if (!(await steps.begin(existsSync(location)))) return null;
  mkdirSync(dirname(db), { recursive: true, mode: 0o700 });
  const draft = newDraft(db);
  try {
    await copySqlite(source, draft);
    const renewResult = await withCopy(draft, steps.renew, (copy) => refuseProblems(copy, source));
    syncFile(draft);
    return { file: source, db, renewResult, kept: await moveIntoPlace(draft, db, steps) };
  } catch (error) {
    // A draft that still exists has not become the store.
    if (existsSync(draft)) steps.onFailed();
    throw error;
  } finally {
    removeDraft(draft);
  }
}

/** Returns the path of the database, with links resolved if it exists. */
export function databasePath(location: string): string {
  return existsSync(location) ? realpathSync(location) : resolve(location);
}

/** Moves the draft to the path of the store. Returns the new path of the old store, or null if there was none. */
async function moveIntoPlace<T>(draft: string, db: string, steps: ReplaceSteps<T>): Promise<string | null> {
  // If there is no store, an empty file takes its name and is locked, so that nobody else creates a store meanwhile.
  const isNew = createIfMissing(db);
  const held = await lockSqlite(db);
  try {
    steps.onHeld();
    return swap(draft, db, held, { word: 'before', now: steps.now() });
  } catch (error) {
    if (isNew && held.isCurrent() && statSync(db).size === 0) rmSync(db);
    throw error;
  } finally {
    held.unlock();
  }
}

/** Creates an empty file. Returns false if there is a file. */
function createIfMissing(db: string): boolean {
  try {
    closeSync(openSync(db, 'ax', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw translateError(error, db);
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

/** Throws if `db check` would find a problem in the copy of the file. */
async function refuseProblems(copy: Connection, source: string): Promise<void> {
  const [first, ...others] = await problemsOf(copy);
  if (first === undefined) return;
  const more = others.length === 0 ? '' : `, and ${countOf(others.length, 'more problem')}`;
  throw new QueueError(
    'store-corrupt',
    `${source} is damaged: ${first}${more}`,
    `to repair the backup: queuectl --db ${shellWord(source)} db repair`,
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
