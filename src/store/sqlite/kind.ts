import { lstatSync } from 'node:fs';
import type { StoreKind } from '../open.ts';
import { openWithCurrentFiles } from './care/current-files.ts';
import { hasRemovedFiles } from './live-files.ts';
import { openSqlite } from './open.ts';

export const SQLITE: StoreKind = {
  open: async (location, { ifMissing, actor, anyOwner, older }) => {
    if (ifMissing === 'empty' && isMissing(location))
      return (await import('./empty.ts')).openEmpty(location, actor);
    const create = ifMissing === 'create';
    return openWithCurrentFiles(location, () => openSqlite(location, create, actor, anyOwner, older));
  },
  peek: async (location) => (await import('./care/peek.ts')).peekSqlite(location),
  care: async () => (await import('./care/file-care.ts')).sqliteCare,
  mustNotClose: hasRemovedFiles,
};

/** Tells whether there is surely no store. One in a directory that cannot be read may exist. */
function isMissing(location: string): boolean {
  try {
    lstatSync(location);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
