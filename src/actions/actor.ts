import { hostname } from 'node:os';

/** Returns the name of the user of this process, for pauses and events. */
export function actorOf(environment: NodeJS.ProcessEnv): string {
  const user = environment.USER || environment.LOGNAME || `uid ${process.getuid?.() ?? '?'}`;
  return `${user}@${hostname()}`;
}
