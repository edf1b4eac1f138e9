import { existsSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';
import type { Stream } from '../core/job.ts';
import type { App } from './app.ts';
import { getJobWithAttempts } from './jobs.ts';
import { chooseAttempt, streamsOf } from './logs.ts';
import { outputPlaceOf } from './outputs.ts';

/** Returns the paths of the output files of one attempt. `ordinal` null means the last one. Throws if the output is not in files. */
export async function outputPaths(app: App, id: string, ordinal: number | null, only: Stream | null) {
  const { job, attempts } = await getJobWithAttempts(app, id);
  const attempt = chooseAttempt(id, attempts, ordinal);
  if (attempt === null)
    throw new QueueError(
      'attempt-not-found',
      `job '${id}' has not started yet`,
      `to wait for it: queuectl logs -f ${id}`,
    );
  const paths = streamsOf(job, only).map((stream) => ({
    stream,
    path: outputPlaceOf(app, attempt, stream).output,
  }));
  if (!paths.every(({ path }) => existsSync(path)))
    throw new QueueError(
      'wrong-state',
      `the output of job '${id}' is stored in the database, not in a file`,
      `to copy it to a file: queuectl logs ${id} >FILE`,
    );
  return { ordinal: attempt.ordinal, paths };
}
