import { signalAttempt } from '../exec/kill.ts';
import { placeOf } from '../exec/place.ts';
import { readRecord } from '../exec/record.ts';
import type { Acted } from './act.ts';
import type { App } from './app.ts';

/** Stops running jobs where they are. Their timeouts go on. */
export function suspendJobs(app: App, ids: string[]): Promise<Acted> {
  return signalJobs(app, ids, 'SIGSTOP');
}

/** Lets suspended jobs go on. */
export function continueJobs(app: App, ids: string[]): Promise<Acted> {
  return signalJobs(app, ids, 'SIGCONT');
}

/** The store knows nothing of it: what is stopped is a process of this machine, known by its cookie. */
async function signalJobs(app: App, ids: string[], signal: NodeJS.Signals): Promise<Acted> {
  const running = new Map((await app.store.running()).map((job) => [job.id, job]));
  const changed: string[] = [];
  for (const id of ids) {
    const job = running.get(id);
    if (job === undefined) continue;
    const place = placeOf(app.stateDirectory, app.store.epoch, job.claim.attempt);
    const record = readRecord(place);
    const group = record?.kind === 'running' ? record.pid : -1;
    if (signalAttempt({ group, cookie: place.cookie }, signal) > 0) changed.push(id);
  }
  return {
    changed,
    unchanged: ids.filter((id) => !changed.includes(id)),
    why: 'were not running on this machine',
  };
}
