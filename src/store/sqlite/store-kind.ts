import { existsSync, lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { QueueError } from '../../core/errors.ts';
import { orNull } from '../../core/text/language.ts';
import { isMountPoint } from '../../files/mounts.ts';
import type { OpenedStore, StoreKind, StoreOptions } from '../store-kind.ts';
import { openSqlite } from './open.ts';

export const SQLITE: StoreKind = {
  open: async (location, options) => {
    if (options.ifMissing === 'empty' && isMissing(location))
      return (await import('./open-empty.ts')).openEmpty(location, options);
    const found = orNull(() => statSync(location, { throwIfNoEntry: false })) ?? null;
    return found === null
      ? openSqlite(location, { ...options, isBrief: false })
      : openFound(location, found, options);
  },
  peek: async (location) => (await import('./care/peek.ts')).peekSqlite(location),
  care: async () => (await import('./care/file-care.ts')).sqliteCare,
};

/** Opens a store that exists. Locks out other processes if the options allow that and no other process has the store open. */
async function openFound(location: string, stat: Stats, options: StoreOptions): Promise<OpenedStore> {
  const db = realpathSync(location);
  // Most databases need no closer look.
  if (stat.nlink > 1 || isMountPoint(db)) (await import('./care/second-name.ts')).refuseSecondName(db, stat);
  if (options.isBrief === true && !existsSync(`${db}-wal`) && !existsSync(`${db}-shm`)) {
    const alone = await openIfUnused(location, options);
    if (alone !== null) return alone;
  }
  try {
    return await openSqlite(location, { ...options, isBrief: false });
  } catch (error) {
    // There is no space for a -shm, which a process that locks out others does not need.
    const needsSpace =
      error instanceof QueueError && error.code === 'disk-full' && options.isBrief === 'if-full';
    const alone = needsSpace ? await openIfUnused(location, options) : null;
    if (alone === null) throw error;
    return alone;
  }
}

/** Opens a store and locks out other processes. Returns null if another process has it open. */
async function openIfUnused(location: string, options: StoreOptions): Promise<OpenedStore | null> {
  try {
    return await openSqlite(location, { ...options, isBrief: true });
  } catch (error) {
    if (error instanceof QueueError && error.code === 'store-busy') return null;
    throw error;
  }
}

/** Tells whether it is certain that there is no store. A directory that cannot be read may contain one. */
function isMissing(location: string): boolean {
  try {
    lstatSync(location);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
