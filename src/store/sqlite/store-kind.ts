import { lstatSync } from 'node:fs';
import type { StoreKind } from '../store-kind.ts';
import { openWithCurrentFiles } from './care/current-files.ts';
import { openSqlite } from './open.ts';

export const SQLITE: StoreKind = {
  open: async (location, options) => {
    if (options.ifMissing === 'empty' && isMissing(location))
      return (await import('./open-empty.ts')).openEmpty(location, options);
    return openWithCurrentFiles(location, options.isBrief, (isBrief) =>
      openSqlite(location, { ...options, isBrief }),
    );
  },
  peek: async (location) => (await import('./care/peek.ts')).peekSqlite(location),
  care: async () => (await import('./care/file-care.ts')).sqliteCare,
};

/** Tells whether it is certain that there is no store. A directory that cannot be read may contain one. */
function isMissing(location: string): boolean {
  try {
    lstatSync(location);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
