import { hostname } from 'node:os';

/** The person in whose name this process acts, as pauses and events say it. */
export function actorOf(environment: NodeJS.ProcessEnv): string {
  const user = environment.USER || environment.LOGNAME || `uid ${process.getuid?.() ?? '?'}`;
  return `${user}@${hostname()}`;
}
