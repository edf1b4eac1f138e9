import { SELECT_SETTINGS, toSettings } from '../settings.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { readEpoch, readOrigin } from './epoch.ts';
import { insertionOnDemand } from './insert-one.ts';
import { readSupportedVersion } from './schema-version.ts';

type StoreCore = Pick<Store, 'manyHosts' | 'epoch' | 'origin' | 'settings' | 'check' | 'close'>;

/** Returns the methods that every command needs. `forgetEpoch` makes the epoch be read again. */
export function storeCore(db: Connection): { core: StoreCore; forgetEpoch: () => void } {
  let epoch: string | null = null;
  const core: StoreCore = {
    manyHosts: false,
    // These two are read when they are asked for, because a file of another version may lack them.
    get epoch() {
      epoch ??= readEpoch(db);
      return epoch;
    },
    get origin() {
      return readOrigin(db);
    },
    settings: () => db.read(() => toSettings(db.all(SELECT_SETTINGS))),
    async check() {
      db.checkFile();
      await db.read(() => readSupportedVersion(db));
    },
    async close() {
      db.close();
    },
  };
  const forgetEpoch = (): void => {
    epoch = null;
  };
  return { core, forgetEpoch };
}

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
