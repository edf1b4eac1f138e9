import { QueueError } from '../core/errors.ts';
import { outputPieces } from '../exec/output.ts';
import { placeOf } from '../exec/place.ts';
import type { Attempt } from '../store/store.ts';
import type { App } from './app.ts';
import { showJob } from './jobs.ts';

export interface Logs {
  /** Null: the job has not run yet. */
  attempt: Attempt | null;
  pieces: Iterable<Uint8Array>;
}

/** The output of one attempt, the last by default, wherever it is kept. */
export async function readLogs(app: App, id: string, ordinal: number | null): Promise<Logs> {
  const { attempts } = await showJob(app, id);
  const attempt = ordinal === null ? attempts.at(-1) : attempts.find((one) => one.ordinal === ordinal);
  if (attempt !== undefined) return { attempt, pieces: await keptOutput(app, attempt) };
  if (ordinal !== null) throw noSuchAttempt(id, ordinal, attempts);
  return { attempt: null, pieces: [] };
}

export async function keptOutput(app: App, attempt: Attempt): Promise<Iterable<Uint8Array>> {
  const kept = await app.store.output(attempt.number);
  return kept === null ? outputPieces(placeOf(app.stateDirectory, app.store.epoch, attempt.number)) : [kept];
}

export function noSuchAttempt(id: string, ordinal: number, attempts: Attempt[]): QueueError {
  const known =
    attempts.length === 0 ? 'it has not run yet' : `it has ${attempts.map((one) => one.ordinal).join(', ')}`;
  return new QueueError('attempt-not-found', `job '${id}' has no attempt ${ordinal}; ${known}`);
}
