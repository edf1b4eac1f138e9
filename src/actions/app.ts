import { QueueError } from '../core/errors.ts';
import { idMaker } from '../core/jobs/new-id.ts';
import { defaultSettings } from '../core/settings/default-settings.ts';
import type { Settings } from '../core/settings/settings.ts';
import { orNull } from '../core/text/language.ts';
import type { Clock, Random } from '../core/time/clock.ts';
import { hostName, maybeRead } from '../files/read.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import type { Wakeups } from '../store/contract/wakeups.ts';
import { type OpenedStore, openStore, type StoreOptions } from '../store/open.ts';
import type { Store } from '../store/store.ts';

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

export interface OpenedApp extends App, Pick<OpenedStore, 'created' | 'missing' | 'warning' | 'schema'> {}

/**
 * Opens a store. Its events name `actor`, a person or a worker, as the author of changes. With the access `write`, a store of an older
 * version is migrated first. It is refused while workers of that version are running.
 */
export async function openApp(
  location: string,
  actor: string | null,
  options: StoreOptions & Required<Pick<StoreOptions, 'access'>>,
): Promise<OpenedApp> {
  try {
    const opened = await openStore(location, { ...options, actor });
    return { ...opened, random: Math.random, newId: idMaker(Math.random) };
  } catch (error) {
    const isOlder = error instanceof QueueError && error.code === 'older-schema';
    if (options.access !== 'write' || !isOlder) throw error;
    const { migrateStore } = await import('./transfer/migrate.ts');
    const { anyOwner = false, storeTimeoutMs } = options;
    await migrateStore(location, actor, { anyOwner, storeTimeoutMs });
    return openApp(location, actor, { ...options, access: 'read' });
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
