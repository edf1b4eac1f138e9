import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { QueueError } from '../core/errors.ts';

/** Returns --db, else QUEUECTL_DB (or QUEUECTL_DB_PATH), else $QUEUECTL_HOME/queue.db, else ~/.queuectl/queue.db. */
export function storeLocation(flag: string | undefined, environment: NodeJS.ProcessEnv): string {
  const named = flag || environment.QUEUECTL_DB || environment.QUEUECTL_DB_PATH;
  const location = named || join(environment.QUEUECTL_HOME || join(home(), '.queuectl'), 'queue.db');
  refuseUnreadable(location);
  return location;
}

/** Returns the home directory. Throws if it is a relative path, which would mean another store in every directory. */
function home(): string {
  const found = homedir();
  if (isAbsolute(found)) return found;
  throw new QueueError(
    'store-unavailable',
    `the default store is in the home directory, but HOME is '${found}', which is not an absolute path`,
    'set HOME to an absolute path, or use --db PATH',
  );
}

/** Throws if a directory name is not valid UTF-8. The runtime replaces such bytes, so the store would be created elsewhere. */
function refuseUnreadable(location: string): void {
  if (!location.includes('\uFFFD') && isAbsolute(location)) return;
  const path = resolve(location);
  if (!path.includes('\uFFFD') || existsSync(dirname(path))) return;
  throw new QueueError('store-unavailable', `a directory name is not valid UTF-8: ${dirname(path)}`);
}
