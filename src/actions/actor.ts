import { hostname, userInfo } from 'node:os';
import { orNull } from '../core/or-null.ts';

/** Returns the user of this process as `user@host`, for pauses and events. */
export function actorOf(environment: NodeJS.ProcessEnv): string {
  const user = environment.USER || environment.LOGNAME || accountName();
  return `${user}@${hostname()}`;
}

/** Returns the name of the account, or a text such as `uid 1000` if it has no name, as in some containers. */
function accountName(): string {
  return orNull(() => userInfo().username) ?? `uid ${process.getuid?.() ?? '?'}`;
}
