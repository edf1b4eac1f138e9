import { homedir } from 'node:os';
import { join } from 'node:path';

/** --db, else QUEUECTL_DB (or QUEUECTL_DB_PATH), else $QUEUECTL_HOME/queue.db, else ~/.queuectl/queue.db. */
export function storeLocation(flag: string | undefined, environment: NodeJS.ProcessEnv): string {
  const named = flag || environment.QUEUECTL_DB || environment.QUEUECTL_DB_PATH;
  if (named) return named;
  return join(environment.QUEUECTL_HOME || join(homedir(), '.queuectl'), 'queue.db');
}
