import { type Clock, type Random, systemClock } from '../core/clock.ts';
import { QueueError } from '../core/errors.ts';
import { idMaker } from '../core/id.ts';
import type { Settings } from '../core/settings.ts';
import { readSettings } from '../core/stored-settings.ts';
import { endAtOnce } from '../exec/end.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { type IfMissing, mustNotClose, type OpenedStore, openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

/** The store and the environment that every action works with. */
export interface App {
  store: Store;
  stateDirectory: StateDirectory;
  clock: Clock;
  random: Random;
  newId(now: number): string;
  /** Is called with a warning for the user, perhaps several times with the same one. */
  warn?(message: string): void;
}

export type { IfMissing };

export interface OpenedApp extends App, Pick<OpenedStore, 'created' | 'missing' | 'warning' | 'schema'> {}

/**
 * What a store is opened for. This decides what happens to one with an older schema:
 * read: it is refused.
 * write: it is migrated, unless workers of the older version are running.
 * work: it is migrated. Workers of the older version then exit and leave their jobs to the new ones.
 * any-version: it stays as it is, for verbs that every schema version has.
 */
export type Access = 'read' | 'write' | 'work' | 'any-version';

export interface OpenOptions {
  access: Access;
  /** A worker never creates a store, or a deleted one would come back empty. The default is `create`. */
  ifMissing?: IfMissing;
  /** Also opens a store that belongs to somebody else, or that others can write. */
  anyOwner?: boolean;
}

/** Opens a store. `actor` is the person or worker whom the events name. */
export async function openApp(
  location: string,
  actor: string | null,
  { access, ifMissing = 'create', anyOwner = false }: OpenOptions,
): Promise<OpenedApp> {
  guardExit();
  const older = access === 'work' ? 'migrate' : access === 'any-version' ? 'keep' : 'refuse';
  try {
    const opened = await openStore(location, { ifMissing, actor, anyOwner, older, now: systemClock.now });
    return { ...opened, clock: systemClock, random: Math.random, newId: idMaker(Math.random) };
  } catch (error) {
    if (access !== 'write' || !(error instanceof QueueError && error.code === 'older-schema')) throw error;
    const { migrateStore } = await import('./migrate.ts');
    await migrateStore(location, actor, anyOwner);
    return openApp(location, actor, { access: 'read', ifMissing, anyOwner });
  }
}

/** Returns the same app for another actor, whom the events name. */
export const actingAs = (app: App, actor: string): App => ({ ...app, store: app.store.as(actor) });
/** Throws if the open store is no longer the one at its location. */
export const checkOpen = (app: App): Promise<void> => app.store.check();
export const closeApp = (app: Pick<App, 'store'>): Promise<void> => app.store.close();

let guarded = false;

/** The runtimes close what is still open at the end, which must not happen to a store whose files were removed. */
function guardExit(): void {
  if (guarded) return;
  guarded = true;
  process.on('exit', (code) => {
    if (mustNotClose()) endAtOnce(code);
  });
}

/** Warns of settings that somebody changed to an invalid value in the database. */
export async function readStoredSettings(
  app: App,
): Promise<{ settings: Settings; stored: Map<string, string> }> {
  const stored = await app.store.settings();
  const { settings, invalid } = readSettings(stored);
  for (const { problem } of invalid) app.warn?.(problem);
  return { settings, stored };
}

/** Calls back with each message once. */
export function once(tell: (message: string) => void): (message: string) => void {
  const told = new Set<string>();
  return (message) => {
    if (!told.has(message)) tell(message);
    told.add(message);
  };
}

export async function currentSettings(app: App): Promise<Settings> {
  return (await readStoredSettings(app)).settings;
}
