import { existsSync } from 'node:fs';
import type { Stream } from '../core/job.ts';
import { type OutputRange, outputPieces, outputRange, outputSize, sliceOf } from '../state/output.ts';
import { outputReader } from '../state/output-reader.ts';
import { type OutputPlace, outputPlaceIn, placeOfAttempt } from '../state/place.ts';
import type { Attempt } from '../store/contract/jobs.ts';
import type { App } from './app.ts';
import {
  type AttemptReader,
  outputElsewhere,
  readShared,
  readSharedRange,
  sharedReader,
} from './shared-outputs.ts';

/* Everything that reads the output of an attempt calls these functions, because the output may be on another host. */

/** Returns the output of one stream of an attempt in pieces, from the store or from its file. */
export async function readOutput(app: App, attempt: Attempt, stream: Stream): Promise<Iterable<Uint8Array>> {
  const stored = await app.store.output(attempt.number, stream);
  if (stored !== null) return [stored];
  return (await isShared(app, attempt, stream))
    ? readShared(app, attempt, stream)
    : outputPieces(outputPlaceOf(app, attempt, stream));
}

/** Reads a byte range of the output of one stream, from the store or from its file. */
export async function readRange(
  app: App,
  attempt: Attempt,
  stream: Stream,
  from: number,
  maxBytes: number,
): Promise<OutputRange> {
  const stored = await app.store.output(attempt.number, stream);
  if (stored !== null) return sliceOf(stored, from, maxBytes);
  const range = (await isShared(app, attempt, stream))
    ? await readSharedRange(app, attempt, stream, from, maxBytes)
    : outputRange(outputPlaceOf(app, attempt, stream), from, maxBytes);
  if (range.size > 0) return range;
  // If the attempt has ended in the meantime, short output has moved to the store.
  const moved = await app.store.output(attempt.number, stream);
  return moved === null ? range : sliceOf(moved, from, maxBytes);
}

/** Tells whether output is read from what its host has shared. This host may have no complete file if it is a copy of that host. */
async function isShared(app: App, attempt: Attempt, stream: Stream): Promise<boolean> {
  const { number, otherHost, finishedAt, truncated, outputBytes } = attempt;
  const { sharedOutput } = app.store;
  if (otherHost !== null || sharedOutput === undefined || finishedAt === null) return otherHost !== null;
  const isComplete = truncated
    ? existsSync(outputPlaceOf(app, attempt, stream).short)
    : writtenBytes(app, attempt) >= outputBytes;
  return !isComplete && (await sharedOutput.sharedEnds([number])).length > 0;
}

/** Returns a reader of the growing output of one stream, from its file or from what its host has shared. */
export function readerOf(app: App, attempt: Attempt, stream: Stream): AttemptReader {
  if (attempt.otherHost !== null) return sharedReader(app, attempt, stream);
  const reader = outputReader(outputPlaceIn(placeOfAttempt(app, attempt.number), stream));
  return {
    get opened() {
      return reader.opened;
    },
    read: async () => reader.read(),
    close: reader.close,
  };
}

/** Returns how many bytes a running attempt has written, as far as that is known here. Only split output has a second file. */
export function writtenBytes(app: App, { number, otherHost, outputBytes }: Attempt): number {
  if (otherHost !== null) return outputBytes;
  const place = placeOfAttempt(app, number);
  return outputSize(outputPlaceIn(place, 'stdout')).bytes + outputSize(outputPlaceIn(place, 'stderr')).bytes;
}

/** Returns the paths for the output of one stream, whether or not the files exist. Throws if they are on another host. */
export function outputPlaceOf(app: App, attempt: Attempt, stream: Stream): OutputPlace {
  const { number, otherHost, finishedAt, outputBytes } = attempt;
  if (otherHost !== null && (finishedAt === null || outputBytes > 0)) throw outputElsewhere(attempt);
  return outputPlaceIn(placeOfAttempt(app, number), stream);
}
