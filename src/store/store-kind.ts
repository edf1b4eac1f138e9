import { type Clock, systemClock } from '../core/time/clock.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import type { FileCare } from './contract/file-care.ts';
import type { Wakeups } from './contract/wakeups.ts';
import type { Store } from './store.ts';

export interface OpenedStore {
  store: Store;
  /** The directory of this host for attempts and the logs of detached workers. */
  stateDirectory: StateDirectory;
  wakeups: Wakeups;
  /** The clock whose times the store keeps. Times of files are by the clock of the host instead. */
  clock: Clock;
  /** Returns how many more connections the server of the store accepts. Missing without a server, or if it has a pooler. */
  freeConnections?(): Promise<number>;
  /** Tells whether this call created the file. */
  created: boolean;
  /** True if there is no file. The store is an empty one in memory. */
  missing?: true;
  /**
   * The schema version that the store had before it was opened, the one of this version of queuectl, and the oldest version whose
   * programs can use the latter.
   */
  schema: { found: number; known: number; oldest: number };
  /** Notes for the user about what the migration changed. Empty if the store was not migrated just now. */
  notes: string[];
  /** A warning for the user, such as about a network file system. */
  warning: string | null;
}

/** Chooses what happens to a store with an older schema: it is not opened, opened as it is, or migrated. */
export type IfOlder = 'refuse' | 'keep' | 'migrate';

/** Chooses what happens if there is no store: one is created, an error is thrown, or an empty one in memory is opened. */
export type IfMissing = 'create' | 'refuse' | 'empty';

export interface StoreOptions {
  ifMissing: IfMissing;
  /** Names the user of the store in its events. */
  actor: string | null;
  /** Also opens a store that belongs to another user, or that others can write. */
  anyOwner: boolean;
  ifOlder: IfOlder;
  /** Loads each part of the store when it is first used. For a command that ends soon. */
  partsOnDemand: boolean;
  /**
   * True if the caller closes the store within moments. It may then lock out other processes until it does. With `if-full`, it does
   * so only if the disk is full, because a store that nobody else can open needs less space.
   */
  isBrief: boolean | 'if-full';
  /** The clock of this host. A store on a server has a clock of its own, which it compares with this one. */
  clock: Clock;
  /** How long opening a store on a server, and each later call, waits while the server cannot be reached. By default 30s. */
  serverWait?: { openMs?: number | undefined; callMs?: number | undefined };
}

export const DEFAULT_OPEN_OPTIONS: StoreOptions = {
  ifMissing: 'create',
  actor: null,
  anyOwner: false,
  ifOlder: 'migrate',
  partsOnDemand: false,
  isBrief: false,
  clock: systemClock,
};

export interface StoreKind {
  open(location: string, options: StoreOptions): Promise<OpenedStore>;
  /** Opens a store to read from it, without changing anything. Returns null if there is none with the current schema. */
  peek(location: string): Promise<Store | null>;
  /** Returns the functions that copy, check and repair the files of such a store. */
  care(): Promise<FileCare>;
}
