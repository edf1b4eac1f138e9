import type { App } from '../actions/app.ts';
import { presence } from '../actions/workers.ts';
import { processes } from '../exec/processes.ts';
import { thisHost } from '../state/host.ts';
import type { StopMark } from '../store/contract/workers.ts';
import { isTemporary, withRetries } from './temporary-errors.ts';

const REGISTER_TIMEOUT_MS = 3000;

/** Waits until a supervisor can register. Throws if that takes too long, because nobody would see a delay in the background. */
export async function untilRegistrable(app: App, id: string, freeSpace: () => Promise<void>): Promise<void> {
  const tryOnce = async (): Promise<void> => {
    await registerSupervisor(app, id);
    await app.store.unregisterSupervisor(id);
  };
  try {
    await withRetries(tryOnce, { freeSpace, limitMs: REGISTER_TIMEOUT_MS });
  } catch (error) {
    // Any other error also occurs in the supervisor, which writes it to its log.
    if (isTemporary(error)) throw error;
  }
}

/** Removes the dead supervisors of this machine and registers this one. Returns the mark of the last `worker stop` of all workers, or null. */
export async function registerSupervisor(app: App, id: string): Promise<StopMark | null> {
  const host = thisHost(app.stateDirectory);
  for (const other of await app.store.supervisors()) {
    if (presence(other, host) === 'gone') await app.store.unregisterSupervisor(other.id);
  }
  return app.store.registerSupervisor({
    id,
    host,
    pid: process.pid,
    startTime: processes.startTime(process.pid) ?? '',
  });
}
