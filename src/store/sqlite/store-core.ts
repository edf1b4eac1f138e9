import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { epochReader } from './epoch.ts';
import { insertion } from './insert.ts';
import { readSupportedVersion } from './schema-version.ts';
import { readSettings } from './settings.ts';

type StoreCore = Pick<Store, 'epoch' | 'origin' | 'insert' | 'settings' | 'check' | 'close'>;

/** Returns the methods that every command needs, and those of `enqueue`. `forgetEpoch` makes the epoch be read again. */
export function storeCore(db: Connection): { core: StoreCore; forgetEpoch: () => void } {
  const { epoch, origin, forgetEpoch } = epochReader(db);
  const core: StoreCore = {
    // These two are read when they are asked for, because a file of another version may lack them.
    get epoch() {
      return epoch();
    },
    get origin() {
      return origin();
    },
    insert: insertion(db),
    settings: () => db.read(() => readSettings(db)),
    async check() {
      db.checkFile();
      await db.read(() => readSupportedVersion(db));
    },
    async close() {
      db.close();
    },
  };
  return { core, forgetEpoch };
}
