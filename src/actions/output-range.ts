import type { Stream } from '../core/job.ts';
import { type OutputRange, outputRange, sliceOf } from '../state/output.ts';
import { outputIn, placeOf } from '../state/place.ts';
import type { Attempt } from '../store/contract/jobs.ts';
import type { App } from './app.ts';
import { showJob } from './jobs.ts';
import { noSuchAttempt, streamsOf } from './logs.ts';

export interface AttemptRange extends OutputRange {
  /** Null: the job has not run yet. */
  attempt: Attempt | null;
}

export interface RangeAsked {
  /** Null: the last one. */
  ordinal: number | null;
  /** Null: all of it, or stdout where it is split. */
  stream: Stream | null;
  /** Below zero from the end. */
  from: number;
  most: number;
}

/** A stretch of the output of one attempt, wherever it is kept. */
export async function readRange(app: App, id: string, asked: RangeAsked): Promise<AttemptRange> {
  const { ordinal, from, most } = asked;
  const { job, attempts } = await showJob(app, id);
  const stream = streamsOf(job, asked.stream)[0]!;
  const attempt = ordinal === null ? attempts.at(-1) : attempts.find((one) => one.ordinal === ordinal);
  if (attempt === undefined) {
    if (ordinal !== null) throw noSuchAttempt(id, ordinal, attempts);
    return { attempt: null, from: 0, next: 0, size: 0, bytes: new Uint8Array() };
  }
  const kept = await app.store.output(attempt.number, stream);
  if (kept !== null) return { attempt, ...sliceOf(kept, from, most) };
  const { directory } = placeOf(app.stateDirectory, app.store.epoch, attempt.number);
  const found = outputRange(outputIn(directory, stream), from, most);
  if (found.size > 0) return { attempt, ...found };
  // An attempt that ended between the two looks has moved its output into the store.
  const moved = await app.store.output(attempt.number, stream);
  return { attempt, ...(moved === null ? found : sliceOf(moved, from, most)) };
}
