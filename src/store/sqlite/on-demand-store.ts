import { QueueError } from '../../core/errors.ts';
import type { Row } from '../row.ts';
import { SELECT_SETTINGS, toSettings } from '../settings.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { translateError } from './failures.ts';
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
  const { close } = parts.core;
  let mayHaveLongLog = false;
  const onLongLog = (): void => {
    mayHaveLongLog = true;
  };
  const store = Object.assign(parts.core, {
    insert: insertionOnDemand(db, onLongLog),
    withActor: (actor: string) => onDemandStore({ ...db, actor }),
    async close() {
      if (mayHaveLongLog) await (await import('./engine.ts')).foldLongLog(db);
      await close();
    },
  }) as Store;
  let loaded: Promise<Store> | null = null;
  const load = (): Promise<Store> => {
    onLongLog();
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

/** Reads the epoch of a store. */
export const SELECT_EPOCH = "SELECT value FROM meta WHERE key = 'epoch'";
const SELECT_ORIGIN = "SELECT value FROM meta WHERE key = 'origin'";
const EPOCH_LENGTH = 12;

/** Tells whether this is a valid epoch, 12 hexadecimal digits. A pattern would be slower the first time, and a short command needs it once. */
export function isEpoch(value: unknown): value is string {
  if (typeof value !== 'string' || value.length !== EPOCH_LENGTH) return false;
  for (let i = 0; i < EPOCH_LENGTH; i++) if (!'0123456789abcdef'.includes(value[i]!)) return false;
  return true;
}

/** Reads the epoch of a store. */
function readEpoch(db: Connection): string {
  let row: Row | undefined;
  try {
    row = db.get(SELECT_EPOCH);
  } catch (error) {
    throw translateError(error, db.path);
  }
  if (row === undefined) throw new QueueError('store-corrupt', `${db.path} is damaged: it has no epoch`);
  return checkEpoch(db, row.value);
}

/** Reads the epoch that a store had before it was renewed, or null if it was never renewed. */
function readOrigin(db: Connection): string | null {
  const row = db.get(SELECT_ORIGIN);
  return row === undefined ? null : checkEpoch(db, row.value);
}

/** Throws if this is not a valid epoch. Epochs become part of paths and are compared with the cookies of processes. */
function checkEpoch(db: Connection, value: unknown): string {
  if (isEpoch(value)) return value;
  throw new QueueError(
    'store-corrupt',
    `${db.path} is damaged: '${String(value).slice(0, 40)}' is not a valid epoch (12 hex digits)`,
  );
}
