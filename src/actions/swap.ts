import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { QueueError } from '../core/errors.ts';
import { syncFile } from '../exec/durable.ts';
import { holdersOf } from '../exec/holders.ts';

/** Beside it, so that it can be moved into place as a whole. */
export function draftOf(target: string): string {
  return join(dirname(target), `.queuectl-${randomBytes(6).toString('hex')}.draft`);
}

export function removeDraft(draft: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(draft + end, { force: true });
}

export function refuseWhileUsed(db: string): void {
  const [holder] = holdersOf(db);
  if (holder === undefined) return;
  throw new QueueError('store-busy', `${db} is in use by process ${holder}`, 'queuectl worker stop');
}

/**
 * Puts the draft in the place of the database, and answers where what was there is kept now, a store still: a link first, so
 * that at no moment there is none. The old WAL goes before the new file comes, which must never be read with it.
 */
export function swap(draft: string, db: string, word: string, now: number): string | null {
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  const aside = existsSync(db) ? freeName(`${db}.${word}-${stamp}`) : null;
  if (aside !== null) {
    linkSync(db, aside);
    for (const end of ['-wal', '-shm']) if (existsSync(db + end)) renameSync(db + end, aside + end);
  }
  renameSync(draft, db);
  syncFile(db);
  return aside;
}

function freeName(name: string): string {
  let free = name;
  for (let n = 2; existsSync(free); n++) free = `${name}.${n}`;
  return free;
}
