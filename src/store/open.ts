import { statSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';
import type { ClaimedJob } from '../core/job.ts';
import type { InvalidSetting } from '../core/stored-settings.ts';
import type { Settlement } from './contract/claims.ts';
import { openSqlite } from './sqlite/open.ts';
import type { Store } from './store.ts';

export interface OpenedStore {
  store: Store;
  /** Where attempts, the wake file and the logs of detached workers live. */
  stateDirectory: string;
  /** The file was made just now. */
  created: boolean;
  /** The schema version that the file had, and the one of this version of queuectl. */
  schema: { found: number; known: number };
  /** Something a person should know about this place. */
  warning: string | null;
}

/** What happens to a store with an older schema: it is not opened, opened as it is, or migrated. */
export type OlderSchema = 'refuse' | 'keep' | 'migrate';

/** Only to read from, for what must neither make nor change a store: null when there is none of this version. */
export async function peekStore(location: string): Promise<Store | null> {
  if (isPostgres(location)) return null;
  const { peekSqlite } = await import('./sqlite/peek.ts');
  return peekSqlite(location);
}

/**
 * The epochs that a file has as a store, of whatever version; null: it is none, or cannot be read. Never of one that this
 * process has open: its locks would go.
 */
export async function epochsOf(path: string): Promise<{ epoch: string; origin: string | null } | null> {
  const { epochsOf } = await import('./sqlite/peek.ts');
  return epochsOf(path).catch(() => null);
}

/** What a look from outside tells of a store, whether it can be opened or not; for `doctor`. */
export interface StoreFacts {
  path: string;
  exists: boolean;
  stateDirectory: string;
  fileSystem: { name: string | null; network: boolean };
  freeBytes: number;
  walBytes: number;
  /** What belongs to somebody else, or can be written by others. */
  unsafe: { says: string; fix: string }[];
  /** What others can read. */
  readable: string[];
  /** Null: it could not be read. */
  schema: { found: number; known: number } | null;
  journalMode?: string;
  synchronous?: number;
  /** What the quick check found. */
  problems?: string[];
  /** Why it cannot be read. */
  error?: { says: string; fix: string | null };
}

/** `refusal`: why the file must not be opened; then nothing is told of what is in it. */
export async function inspectStore(
  location: string,
  whole: boolean,
  refusal: NonNullable<StoreFacts['error']> | null,
): Promise<StoreFacts> {
  refusePostgres(location);
  const { inspectSqlite } = await import('./sqlite/inspect.ts');
  return inspectSqlite(location, whole, refusal);
}

/** Everything that is wrong with a store, one problem a line, and settings that are invalid; nothing is changed. */
export async function checkStore(location: string): Promise<StoreCheck> {
  refusePostgres(location);
  const { checkSqlite } = await import('./sqlite/check.ts');
  return checkSqlite(location);
}

export interface StoreCheck {
  path: string;
  problems: string[];
  invalid: InvalidSetting[];
}

/** Not so, too, where it cannot be told. */
export async function isSound(location: string): Promise<boolean> {
  refusePostgres(location);
  const { isSoundSqlite } = await import('./sqlite/check.ts');
  return isSoundSqlite(location);
}

export interface Repaired {
  /** How the damaged file had to be read. */
  how: string;
  /** Rows saved, by table. */
  saved: Record<string, number>;
  /** How many of them were found only on pages that no table leads to any more, and so may be old versions; by table. */
  loose: Record<string, number>;
  /** What could not be, as exactly as it can be told. */
  lost: string[];
  jobs: number;
  /** What is wrong with the new file still. */
  problems: string[];
}

/** A store that everybody else is kept out of, so that its file can be read as it is, and replaced. */
export interface Held {
  /** All of it is in its one file. False: SQLite cannot read it, so nobody works on it, and it was left with its WAL. */
  folded: boolean;
  /** Its name still leads to it. */
  isCurrent(): boolean;
  /** Its bytes, damaged or not. */
  copyTo(path: string): void;
  letGo(): void;
}

export async function holdStore(path: string): Promise<Held> {
  const { holdSqlite } = await import('./sqlite/hold.ts');
  return holdSqlite(path);
}

/** A new, empty file that is held before anybody else knows it. */
export async function holdNew(path: string): Promise<Held> {
  const { holdNewSqlite } = await import('./sqlite/hold.ts');
  return holdNewSqlite(path);
}

/**
 * Saves what can be read of a damaged store into a new one at `draft`; null: nothing. `loser`: makes of the settings that were
 * saved what Store.renew calls `lose`.
 */
export async function repairStore(
  damaged: Held,
  draft: string,
  epoch: string | null,
  loser: (settings: ReadonlyMap<string, string>) => (job: ClaimedJob) => Settlement,
): Promise<Repaired | null> {
  const { repairSqlite } = await import('./sqlite/repair.ts');
  return repairSqlite(damaged, draft, epoch, loser);
}

/** Why there is no store at this path, as an error. */
export async function missingStore(path: string): Promise<QueueError> {
  const { missing } = await import('./sqlite/odd-file.ts');
  return missing(path);
}

/** Refuses a store that is not safe to be ours, or no file at all, before its files are replaced. */
export async function checkOwner(path: string, anyOwner: boolean): Promise<void> {
  const { refuseNoFile } = await import('./sqlite/odd-file.ts');
  refuseNoFile(path, statSync(path, { throwIfNoEntry: false }));
  const { refuseUnsafe } = await import('./sqlite/owner.ts');
  refuseUnsafe(path, anyOwner);
}

/** Refuses a directory in which others could replace a backup that is being made. */
export async function checkDraftPlace(directory: string, anyOwner: boolean): Promise<void> {
  const { refuseUnsafeDrafts } = await import('./sqlite/owner.ts');
  refuseUnsafeDrafts(directory, anyOwner);
}

/** Tells whether others could put files beside this one, or in its place. */
export async function isExposed(path: string): Promise<boolean> {
  const { unsafeParts } = await import('./sqlite/owner.ts');
  return unsafeParts(path).length > 0;
}

/** Copies a store as of one moment, whoever works on it; `to` must not exist. The copy is its own only once it is renewed. */
export async function copyStore(from: string, to: string): Promise<void> {
  refusePostgres(from);
  const { copySqlite } = await import('./sqlite/copy.ts');
  return copySqlite(from, to);
}

/** Opens such a copy, which has no state directory. */
export async function openCopy(path: string): Promise<Store> {
  const { openCopy } = await import('./sqlite/copy.ts');
  return openCopy(path);
}

/**
 * `actor`: who acts through it, for the events. `anyOwner`: also one that belongs to somebody else, or that others can
 * write.
 */
export async function openStore(
  location: string,
  create: boolean,
  actor: string | null,
  anyOwner: boolean,
  older: OlderSchema,
): Promise<OpenedStore> {
  refusePostgres(location);
  return openSqlite(location, create, actor, anyOwner, older);
}

function isPostgres(location: string): boolean {
  return /^postgres(ql)?:/i.test(location);
}

function refusePostgres(location: string): void {
  if (!isPostgres(location)) return;
  throw new QueueError(
    'store-unavailable',
    'this version of queuectl does not support PostgreSQL yet',
    'use --db with the path of a file',
  );
}
