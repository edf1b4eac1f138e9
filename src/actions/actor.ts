import { hostname, userInfo } from 'node:os';
import { orNull } from '../core/or-null.ts';

/** Returns the name of the user of this process, for pauses and events. */
export function actorOf(environment: NodeJS.ProcessEnv): string {
  const user = environment.USER || environment.LOGNAME || accountName();
  return `${user}@${hostname()}`;
}

/** Returns the name of the account, or its number if it has none, as in some containers. */
function accountName(): string {
  return orNull(() => userInfo().username) ?? `uid ${process.getuid?.() ?? '?'}`;
}
