import type { StoreKind } from '../open.ts';
import { openWithCurrentFiles } from './care/current-files.ts';
import { hasRemovedFiles } from './live-files.ts';
import { openSqlite } from './open.ts';

export const SQLITE: StoreKind = {
  open: (location, options) => openWithCurrentFiles(location, () => openSqlite(location, options)),
  peek: async (location) => (await import('./care/peek.ts')).peekSqlite(location),
  care: async () => (await import('./care/file-care.ts')).sqliteCare,
  mustNotClose: hasRemovedFiles,
};
