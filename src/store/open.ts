import { QueueError } from '../core/errors.ts';
import { refuseOldNode } from '../core/node-version.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import type { FileCare } from './contract/file-care.ts';
import type { Store } from './store.ts';

export interface OpenedStore {
  store: Store;
  /** The directory of this host for attempts, the wake file and the logs of detached workers. */
  stateDirectory: StateDirectory;
  /** Tells whether the file was created just now. */
  created: boolean;
  /** True if there is no file. The store is an empty one in memory. */
  missing?: true;
  /** The schema version that the file had before it was opened, and the one of this version of queuectl. */
  schema: { found: number; known: number };
  /** A warning about the location of the store. */
  warning: string | null;
}

/** Decides whether a store with an older schema is not opened, opened as it is, or migrated. */
export type OlderSchema = 'refuse' | 'keep' | 'migrate';

/** What happens if there is no store: one is created, an error is thrown, or an empty one in memory is opened. */
export type IfMissing = 'create' | 'refuse' | 'empty';

export interface OpenOptions {
  ifMissing: IfMissing;
  /** Names the user of the store in its events. */
  actor: string | null;
  /** Also opens a store that belongs to another user, or that others can write. */
  anyOwner: boolean;
  older: OlderSchema;
  /** Returns the current time, for events. */
  now(): number;
}

export interface StoreKind {
  open(location: string, options: OpenOptions): Promise<OpenedStore>;
  /** Opens a store to read from it, without changing anything. Returns null if there is none with the current schema. */
  peek(location: string): Promise<Store | null>;
  /** Returns the functions that copy, check and repair the files of such a store. */
  care(): Promise<FileCare>;
  /** Tells whether this process has a store open that must not be closed, not even at its end. */
  mustNotClose(): boolean;
}

/** The kinds of stores. A location belongs to the first kind that owns it, and only that kind is loaded. */
const STORES: { owns(location: string): boolean; load(): Promise<StoreKind> }[] = [
  { owns: (location) => /^postgres(ql)?:/i.test(location), load: async () => POSTGRES },
  { owns: () => true, load: loadFileStore },
];

const POSTGRES: StoreKind = {
  open: refusePostgres,
  peek: async () => null,
  care: refusePostgres,
  mustNotClose: () => false,
};

async function refusePostgres(): Promise<never> {
  throw new QueueError(
    'store-unavailable',
    'this version of queuectl does not support PostgreSQL yet',
    'use --db with the path of a file',
  );
}

/** Reports an old Node, which cannot load the store at all. */
async function loadFileStore(): Promise<StoreKind> {
  refuseOldNode(process.versions);
  return (await import('./sqlite/kind.ts')).SQLITE;
}

const loaded = new Set<StoreKind>();

async function kindOf(location: string): Promise<StoreKind> {
  const kind = await STORES.find((one) => one.owns(location))!.load();
  loaded.add(kind);
  return kind;
}

export const openStore = async (location: string, options: OpenOptions): Promise<OpenedStore> =>
  (await kindOf(location)).open(location, options);

export const peekStore = async (location: string): Promise<Store | null> =>
  (await kindOf(location)).peek(location);

export const careOf = async (location: string): Promise<FileCare> => (await kindOf(location)).care();

export const mustNotClose = (): boolean => [...loaded].some((kind) => kind.mustNotClose());
