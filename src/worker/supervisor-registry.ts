import type { App } from '../actions/app.ts';
import { presence } from '../actions/workers.ts';
import { processes } from '../exec/processes.ts';
import { thisHost } from '../state/host.ts';
import type { StopMark } from '../store/contract/workers.ts';
import { isTemporary, patiently } from './patience.ts';

const ROOM_MS = 3000;

/** Waits a while until a supervisor can register. Throws if it cannot, because in the background nobody would notice. */
export async function untilRoom(app: App, id: string, relieve: () => Promise<void>): Promise<void> {
  const tryOnce = async (): Promise<void> => {
    await register(app, id);
    await app.store.unregisterSupervisor(id);
  };
  try {
    await patiently(tryOnce, { relieve, limitMs: ROOM_MS });
  } catch (error) {
    // Any other error can be written to the log.
    if (isTemporary(error)) throw error;
  }
}

/** Removes the supervisors of this machine that have died, and registers this one. Returns the last stop order to all. */
export async function register(app: App, id: string): Promise<StopMark | null> {
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
