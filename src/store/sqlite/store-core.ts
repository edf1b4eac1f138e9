import { SELECT_SETTINGS, toSettings } from '../settings.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { readEpoch, readOrigin } from './epoch.ts';
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
