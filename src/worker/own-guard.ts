import { closeSync } from 'node:fs';
import { guardLine, LIBRARY_SUPERVISOR, noteLook, openGuardEnd } from '../exec/guard-line.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { guardHost } from './guard.ts';

export { LIBRARY_SUPERVISOR };

/** Guards the commands of this host inside this process, which has a worker and no supervisor. Returns a function that ends this. */
export async function guardInProcess(state: StateDirectory): Promise<() => void> {
  const line = guardLine(state, LIBRARY_SUPERVISOR);
  const end = await openGuardEnd(state, line);
  noteLook(line, false);
  const stopped = Promise.withResolvers<void>();
  const options = {
    line,
    abandoned: stopped.promise,
    staysForCommands: false,
    onLook: (isAbandoned: boolean) => noteLook(line, isAbandoned),
    log: () => {},
  };
  guardHost(state, options).finally(() => closeSync(end));
  return stopped.resolve;
}
