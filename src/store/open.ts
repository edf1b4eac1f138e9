import { QueueError } from '../core/errors.ts';
import type { Clock } from '../core/time/clock.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import type { FileCare } from './contract/file-care.ts';
import type { Wakeups } from './contract/wakeups.ts';
import { isServerUrl } from './location.ts';
import { openSqlite } from './sqlite/open.ts';
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
  /** A warning for the user, such as about a network file system. */
  warning: string | null;
}

/**
 * The purpose for which a store is opened. It decides what happens to a store with an older schema:
 * - read: the store is refused.
 * - write: the store is refused, too. Before that, an action migrates it, unless workers of the older version are running.
 * - work: the store is migrated. Workers of the older version then exit and leave their jobs to new workers.
 * - any-version: the store keeps its schema. The caller uses only methods that work with every schema.
 */
export type Access = 'read' | 'write' | 'work' | 'any-version';

/** Chooses what happens if there is no store: one is created, an error is thrown, or an empty one in memory is opened. */
export type IfMissing = 'create' | 'refuse' | 'empty';

export interface StoreOptions {
  /** The default is `work`. */
  access?: Access;
  /** The default is `create`. Workers pass `refuse`, so as not to recreate a deleted store. */
  ifMissing?: IfMissing;
  /** Names the user of the store in its events. */
  actor?: string | null;
  /** Also opens a store that belongs to another user, or that other users can write. */
  anyOwner?: boolean;
  /** Loads most of the store when it is first used. For a command that ends soon. */
  partsOnDemand?: boolean;
  /**
   * True if the caller closes the store within moments. It may then lock out other processes until it does. With `if-full`, it does
   * so only if the disk is full, because a store that nobody else can open needs less space.
   */
  isBrief?: boolean | 'if-full';
  /** The clock of this host. A store on a server has a clock of its own, which it compares with this one. */
  clock?: Clock;
  /** How long to wait for the server of a store while it cannot be reached. The default is 30s. */
  storeTimeoutMs?: number | undefined;
  /** How long each call waits after the store was opened. The default is `storeTimeoutMs`. */
  callTimeoutMs?: number | undefined;
}

/** Opens the store at a location. */
export async function openStore(location: string, options?: StoreOptions): Promise<OpenedStore> {
  if (isServerUrl(location)) return (await import('./postgres/open.ts')).openPostgres(location, options);
  // Bun has its own database library. Making `process.versions` would take it a tenth of a millisecond.
  if (!('Bun' in globalThis)) refuseOldNode(process.versions);
  return openSqlite(location, options);
}

/** Opens a store to read from it, without changing anything. Returns null if there is none with the current schema. */
export async function peekStore(location: string): Promise<Store | null> {
  if (isServerUrl(location)) return (await import('./postgres/open.ts')).peekPostgres(location);
  return (await import('./sqlite/care/peek.ts')).peekSqlite(location);
}

/** Returns the functions that copy, check and repair the files of a store. */
export async function careOf(location: string): Promise<FileCare> {
  if (isServerUrl(location)) return (await import('./postgres/care/server-care.ts')).postgresCare;
  return (await import('./sqlite/care/file-care.ts')).sqliteCare;
}

/** The first version of Node whose built-in database is new enough. `engines` in package.json has the same version. */
const NEEDED_VERSION = [24, 15] as const;

/** Throws on a version of Node that is too old for the store. Bun and the executable have their own database library. */
export function refuseOldNode({ node = '', bun }: { node?: string; bun?: string | undefined }): void {
  if (bun !== undefined) return;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > NEEDED_VERSION[0] || (major === NEEDED_VERSION[0] && minor >= NEEDED_VERSION[1])) return;
  throw new QueueError(
    'unsupported-platform',
    `queuectl needs Node ${NEEDED_VERSION.join('.')} or later, and this is Node ${node}`,
    'use a newer Node, Bun, or the queuectl executable, which needs neither',
  );
}
