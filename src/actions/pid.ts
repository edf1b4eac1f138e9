import type { Job } from '../core/job.ts';
import { runsInOtherNamespace } from '../exec/lifeline.ts';
import { processes } from '../exec/processes.ts';
import { placeOfAttempt } from '../state/place.ts';
import { readRecord } from '../state/record.ts';
import type { App } from './app.ts';

/**
 * Returns the pid of a running job's frame, which is also the id of its process group. Returns null if the
 * command is not running, if its process is gone, or if it runs in another pid namespace.
 */
export async function pidOf(app: App, { id, state }: Job): Promise<number | null> {
  if (state !== 'processing') return null;
  const attempt = (await app.store.attempts(id)).at(-1);
  if (attempt === undefined || attempt.finishedAt !== null) return null;
  const place = placeOfAttempt(app, attempt.number);
  const record = readRecord(place);
  if (record?.kind !== 'running' || runsInOtherNamespace(record)) return null;
  // After a crash, the record remains until a worker settles the attempt. Another process may have the pid by then.
  return processes.carries(record.pid, place.cookie) ? record.pid : null;
}
