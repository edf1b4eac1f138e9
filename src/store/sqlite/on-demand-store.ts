import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { insertionOnDemand } from './insert-one.ts';
import { storeCore } from './store-core.ts';

/** The members of a store that a SQLite store lacks, or that no store has. */
const MISSING = ['batching', 'sharedOutput', 'insertOn', 'then'];

/**
 * Returns a store for a command that ends soon. It loads at once only what `enqueue` uses. The first call of another method loads
 * all the rest and adds it to the store.
 */
export function onDemandStore(db: Connection): Store {
  const parts = storeCore(db);
  const store = Object.assign(parts.core, {
    insert: insertionOnDemand(db),
    withActor: (actor: string) => onDemandStore({ ...db, actor }),
  }) as Store;
  let loaded: Promise<Store> | null = null;
  const load = (): Promise<Store> => {
    loaded ??= import('./store.ts').then(({ sqliteStore }) => sqliteStore(db, parts));
    return loaded;
  };
  return new Proxy(store, {
    get(target, name) {
      if (name in target || MISSING.includes(name as string)) return target[name as keyof Store];
      return async (...values: never[]) =>
        ((await load())[name as keyof Store] as (...values: never[]) => unknown)(...values);
    },
  });
}
