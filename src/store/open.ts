import { refuseOldNode } from '../core/node-version.ts';
import type { FileCare } from './contract/file-care.ts';
import { isServerUrl } from './location.ts';
import { SQLITE } from './sqlite/store-kind.ts';
import type { Store } from './store.ts';
import type { OpenedStore, StoreKind, StoreOptions } from './store-kind.ts';

const loadServerStore = async (): Promise<StoreKind> => (await import('./postgres/store-kind.ts')).POSTGRES;

/** Returns the kind of a store in a file. It is not loaded on demand, because most stores are files, and `import()` takes a tenth of a millisecond. */
function fileStore(): StoreKind {
  // Bun has its own database library. Making `process.versions` would take it a tenth of a millisecond.
  if (!('Bun' in globalThis)) refuseOldNode(process.versions);
  return SQLITE;
}

/** Returns the kind of store that a location belongs to. A promise only if it has to be loaded. */
function kindOf(location: string): StoreKind | Promise<StoreKind> {
  return isServerUrl(location) ? loadServerStore() : fileStore();
}

export async function openStore(location: string, options: StoreOptions): Promise<OpenedStore> {
  return (await kindOf(location)).open(location, options);
}

export const peekStore = async (location: string): Promise<Store | null> =>
  (await kindOf(location)).peek(location);

export const careOf = async (location: string): Promise<FileCare> => (await kindOf(location)).care();
