import { QueueError } from '../core/errors.ts';
import type { Job, Stream } from '../core/job.ts';
import { outputPieces } from '../state/output.ts';
import { outputIn, placeOf } from '../state/place.ts';
import type { Attempt } from '../store/contract/jobs.ts';
import type { App } from './app.ts';
import { getJob, showJob } from './jobs.ts';

export interface Logs {
  /** Null: the job has not run yet. */
  attempt: Attempt | null;
  /** What was split comes apart, stdout first. */
  streams: { stream: Stream; pieces: Iterable<Uint8Array> }[];
}

/** The output of one attempt, the last by default, wherever it is kept; `only`: of this stream. */
export async function readLogs(
  app: App,
  id: string,
  ordinal: number | null,
  only: Stream | null,
): Promise<Logs> {
  const wanted = streamsOf(await getJob(app, id), only);
  const attempt = await attemptOf(app, id, ordinal);
  if (attempt === null) return { attempt: null, streams: [] };
  const streams: Logs['streams'] = [];
  for (const stream of wanted) streams.push({ stream, pieces: await keptOutput(app, attempt, stream) });
  return { attempt, streams };
}

/** Returns an attempt of a job, the last one by default. Null: the job has not run yet. */
export async function attemptOf(app: App, id: string, ordinal: number | null): Promise<Attempt | null> {
  const { attempts } = await showJob(app, id);
  const attempt = ordinal === null ? attempts.at(-1) : attempts.find((one) => one.ordinal === ordinal);
  if (attempt === undefined && ordinal !== null) throw noSuchAttempt(id, ordinal, attempts);
  return attempt ?? null;
}

/** Refused for a job that was not to split its output: nobody can tell any more what went where. */
export function streamsOf(job: Job, only: Stream | null): Stream[] {
  if (job.splitOutput) return only === null ? ['stdout', 'stderr'] : [only];
  if (only === null) return ['stdout'];
  throw new QueueError(
    'wrong-state',
    `job '${job.id}' has combined output; it was enqueued without --split-output`,
    `queuectl logs ${job.id}`,
  );
}

export async function keptOutput(app: App, attempt: Attempt, stream: Stream): Promise<Iterable<Uint8Array>> {
  const kept = await app.store.output(attempt.number, stream);
  if (kept !== null) return [kept];
  const { directory } = placeOf(app.stateDirectory, app.store.epoch, attempt.number);
  return outputPieces(outputIn(directory, stream));
}

export function noSuchAttempt(id: string, ordinal: number, attempts: Attempt[]): QueueError {
  const known =
    attempts.length === 0
      ? 'it has not run yet'
      : `it has ${attempts.length === 1 ? 'attempt' : 'attempts'} ${attempts.map((one) => one.ordinal).join(', ')}`;
  return new QueueError('attempt-not-found', `job '${id}' has no attempt ${ordinal}; ${known}`);
}
