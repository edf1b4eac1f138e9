import { QueueError } from '../core/errors.ts';
import { idMaker } from '../core/jobs/new-id.ts';
import { defaultSettings } from '../core/settings/default-settings.ts';
import type { Settings } from '../core/settings/settings.ts';
import { orNull } from '../core/text/language.ts';
import { type Clock, type Random, systemClock } from '../core/time/clock.ts';
import { hostName } from '../files/host-name.ts';
import { maybeRead } from '../files/maybe-read.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import type { Wakeups } from '../store/contract/wakeups.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { IfMissing, IfOlder, OpenedStore } from '../store/store-kind.ts';

/** The store and the environment that every action works with. */
export interface App {
  store: Store;
  stateDirectory: StateDirectory;
  wakeups: Wakeups;
  /** The clock of the store. Its wall-clock time is compared with stored times, but not with those of files. */
  clock: Clock;
  random: Random;
  newId(now: number): string;
  freeConnections?: OpenedStore['freeConnections'];
  /** Is called with each warning for the user. It may be called several times with the same warning. */
  warn?(message: string): void;
}

export type { IfMissing };

export interface OpenedApp
  extends App,
    Pick<OpenedStore, 'created' | 'missing' | 'warning' | 'schema' | 'notes'> {}

/**
 * The purpose for which a store is opened. It decides what happens to a store with an older schema:
 * - read: the store is refused.
 * - write: the store is migrated. It is refused while workers of the older version are running.
 * - work: the store is migrated. Workers of the older version then exit and leave their jobs to new workers.
 * - any-version: the store keeps its schema. The caller uses only methods that work with every schema.
 */
export type Access = 'read' | 'write' | 'work' | 'any-version';

export interface AppOptions {
  access: Access;
  /** What happens if there is no store. The default is `create`. Workers pass `refuse`, so as not to recreate a deleted store. */
  ifMissing?: IfMissing;
  /** Also opens a store that belongs to another user, or that other users can write. */
  anyOwner?: boolean;
  /** Loads each part of the store when it is first used. For a command that ends soon. */
  partsOnDemand?: boolean;
  /** How long to wait for the server of a store while it cannot be reached. The default is 30s. */
  storeTimeoutMs?: number | undefined;
  /** How long each call waits after the store was opened. The default is `storeTimeoutMs`. */
  callTimeoutMs?: number | undefined;
  /** The same as in the options of a store. */
  isBrief?: boolean | 'if-full';
}

/** Opens a store. Its events name `actor`, a person or a worker, as the author of changes. */
export async function openApp(location: string, actor: string | null, given: AppOptions): Promise<OpenedApp> {
  const { access, ifMissing = 'create', anyOwner = false, partsOnDemand = false, isBrief = false } = given;
  const ifOlder: IfOlder = access === 'work' ? 'migrate' : access === 'any-version' ? 'keep' : 'refuse';
  try {
    const serverWait = { openMs: given.storeTimeoutMs, callMs: given.callTimeoutMs };
    const options = { ifMissing, actor, anyOwner, ifOlder, partsOnDemand, isBrief, clock: systemClock };
    const opened = await openStore(location, { ...options, serverWait });
    return { ...opened, random: Math.random, newId: idMaker(Math.random) };
  } catch (error) {
    if (access !== 'write' || !(error instanceof QueueError && error.code === 'older-schema')) throw error;
    const { migrateStore } = await import('./transfer/migrate.ts');
    const options = { anyOwner, storeTimeoutMs: given.storeTimeoutMs };
    const { notes } = await migrateStore(location, actor, options);
    return { ...(await openApp(location, actor, { ...given, access: 'read' })), notes };
  }
}

/** Returns the app with another actor, whom the events name as the author of changes. */
export const actingAs = (app: App, actor: string): App => ({ ...app, store: app.store.withActor(actor) });
/** Throws if the open store is no longer the one at its location. */
export const checkOpen = (app: App): Promise<void> => app.store.check();
export const closeApp = (app: Pick<App, 'store'>): Promise<void> => app.store.close();

/**
 * Returns the settings, and the texts of those that are stored. Warns about stored values that are invalid. `defaults` returns the
 * settings of a store in which none is stored. `given` are the stored ones if they were read already.
 */
export async function readStoredSettings<S extends Partial<Settings> = Settings>(
  app: Pick<App, 'store' | 'warn'>,
  defaults: (manyHosts?: boolean) => S,
  given?: Map<string, string>,
): Promise<{ settings: S; stored: Map<string, string> }> {
  const { manyHosts } = app.store;
  const stored = given ?? (await app.store.settings());
  if (stored.size === 0) return { settings: defaults(manyHosts), stored };
  const { readSettings } = await import('../core/settings/stored-settings.ts');
  const { settings, invalid } = readSettings(stored, manyHosts);
  for (const { problem } of invalid) app.warn?.(problem);
  return { settings: settings as unknown as S, stored };
}

/** Returns a function that calls `tell` with each message, but only once with the same message. */
export function withoutRepeats(tell: (message: string) => void): (message: string) => void {
  const seen: string[] = [];
  return (message) => {
    if (seen.includes(message)) return;
    seen.push(message);
    tell(message);
  };
}

export async function currentSettings(
  app: Pick<App, 'store' | 'warn'>,
  given?: Map<string, string>,
): Promise<Settings> {
  return (await readStoredSettings(app, defaultSettings, given)).settings;
}

/** Returns the user of this process as `user@host`, for pauses and events. */
export function actorOf(environment: NodeJS.ProcessEnv): string {
  const user = environment.USER || environment.LOGNAME || accountName();
  return `${user}@${hostName(environment)}`;
}

/** The name that Bun returns for every account if USER is not set. */
const UNKNOWN = 'unknown';

/** Returns the name of the account, or a text such as `uid 1000` if it has no name, as in some containers. Reading a file is cheaper than loading node:os. */
function accountName(): string {
  const uid = process.getuid?.();
  const listed = nameIn(maybeRead('/etc/passwd') ?? '', uid);
  if (listed !== null) return listed;
  const name = orNull(() => process.getBuiltinModule('node:os').userInfo().username);
  return name !== null && name !== '' && name !== UNKNOWN ? name : `uid ${uid ?? '?'}`;
}

/** Returns the name of the account with this uid in a passwd file, or null. Does not split the whole file, which may be long. */
function nameIn(passwd: string, uid: number | undefined): string | null {
  const id = `:${uid}:`;
  for (let at = passwd.indexOf(id); at !== -1; at = passwd.indexOf(id, at + 1)) {
    const start = passwd.lastIndexOf('\n', at) + 1;
    // The line begins with the name and the password. The same number may follow as the group.
    const [name, password, ...others] = passwd.slice(start, at).split(':');
    if (name && password !== undefined && others.length === 0) return name;
  }
  return null;
}
