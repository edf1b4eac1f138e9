import { existsSync } from 'node:fs';
import { QueueError } from '../../core/errors.ts';
import type { Stream } from '../../core/jobs/job.ts';
import { attemptFiles, filesOfAttempt, type OutputFiles, streamFiles } from '../../state/attempt-files.ts';
import {
  CHUNK_BYTES,
  gapMark,
  type OutputRange,
  outputPieces,
  outputRange,
  outputSize,
  sliceOf,
} from '../../state/output.ts';
import { outputReader } from '../../state/output-reader.ts';
import { stateDirectory } from '../../state/state-directory.ts';
import type { Attempt } from '../../store/contract/jobs.ts';
import { type App, currentSettings } from '../app.ts';

/* Everything that reads the output of an attempt calls these functions, because the output may be on another host. */

/** Returns the output of one stream of an attempt in pieces, from the store or from its file. */
export async function readOutput(app: App, attempt: Attempt, stream: Stream): Promise<Iterable<Uint8Array>> {
  const stored = await app.store.output(attempt.number, stream);
  if (stored !== null) return [stored];
  return (await isShared(app, attempt, stream))
    ? readShared(app, attempt, stream)
    : outputPieces(outputFilesOf(app, attempt, stream));
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
    : outputRange(outputFilesOf(app, attempt, stream), from, maxBytes);
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
    ? existsSync(outputFilesOf(app, attempt, stream).short)
    : writtenBytes(app, attempt) >= outputBytes;
  return !isComplete && (await sharedOutput.sharedEnds([number])).length > 0;
}

/** Returns a reader of the growing output of one stream, from its file or from what its host has shared. */
export function readerOf(app: App, attempt: Attempt, stream: Stream): AttemptReader {
  if (attempt.otherHost !== null) return sharedReader(app, attempt, stream);
  const reader = outputReader(streamFiles(filesOfAttempt(app, attempt.number), stream));
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
  const files = filesOfAttempt(app, number);
  return outputSize(streamFiles(files, 'stdout')).bytes + outputSize(streamFiles(files, 'stderr')).bytes;
}

/** Returns the paths for the output of one stream, whether or not the files exist. Throws if they are on another host. */
export function outputFilesOf(app: App, attempt: Attempt, stream: Stream): OutputFiles {
  const { number, otherHost, finishedAt, outputBytes } = attempt;
  if (otherHost !== null && (finishedAt === null || outputBytes > 0)) throw outputElsewhere(attempt);
  return streamFiles(filesOfAttempt(app, number), stream);
}

/* The functions below read output that another host has in a file. Only the functions above call them. */

/** Reads the shared output of a stream from the start. Throws if the attempt has output, and none of it was shared. */
async function readShared(app: App, attempt: Attempt, stream: Stream): Promise<Uint8Array[]> {
  const reader = sharedReader(app, attempt, stream);
  const pieces = await reader.read();
  if (pieces.length === 0) await refuseUnshared(app, attempt);
  return pieces;
}

/** Reads a byte range of the shared output of a stream. A range that begins in a gap holds the mark instead. */
async function readSharedRange(
  app: App,
  attempt: Attempt,
  stream: Stream,
  from: number,
  maxBytes: number,
): Promise<OutputRange> {
  const found = await app.store.sharedOutput?.sharedRange(attempt.number, stream, from, maxBytes);
  if (found === undefined || found.size === 0) {
    await refuseUnshared(app, attempt);
    return { from: 0, next: 0, size: 0, bytes: new Uint8Array() };
  }
  const { gap, size, bytes } = found;
  if (gap !== null)
    return { from: gap.from, next: gap.to, size, bytes: gapMark(gap, whereText(app, attempt, stream)) };
  return { from: found.from, next: found.from + bytes.length, size, bytes };
}

/** Reads the growing output of one stream. */
export interface AttemptReader {
  /** Tells whether the reader has found the output. Then it can be read to its end, even if it is moved or removed. */
  readonly opened: boolean;
  /** Returns the pieces that were written since the last call. */
  read(): Promise<Iterable<Uint8Array>>;
  close(): void;
}

/** Returns a reader of the shared output of a stream. */
function sharedReader(app: App, attempt: Attempt, stream: Stream) {
  const { store } = app;
  let at = 0;
  return {
    get opened() {
      return at > 0;
    },
    close() {},
    async read(): Promise<Uint8Array[]> {
      const pieces: Uint8Array[] = [];
      for (;;) {
        const found = await store.sharedOutput?.sharedRange(attempt.number, stream, at, CHUNK_BYTES);
        if (found === undefined) break;
        const { gap, bytes } = found;
        if (gap === null && bytes.length === 0) break;
        pieces.push(
          gap === null ? bytes : gapMark({ from: at, to: gap.to }, whereText(app, attempt, stream)),
        );
        at = gap === null ? at + bytes.length : gap.to;
      }
      // The parts of short output are removed when the attempt ends, because the store then has all of it.
      const stored = await store.output(attempt.number, stream);
      if (stored !== null && stored.length > at) {
        pieces.push(stored.subarray(at));
        at = stored.length;
      }
      return pieces;
    },
  };
}

/** Throws if the output of an attempt is only on another host. */
async function refuseUnshared(app: App, attempt: Attempt): Promise<void> {
  const { number, finishedAt, outputBytes } = attempt;
  if (finishedAt !== null && outputBytes === 0) return;
  const { sharedOutput } = app.store;
  // Only one of two streams may have output.
  if (sharedOutput !== undefined && (await sharedOutput.sharedEnds([number])).length > 0) return;
  const isShared = sharedOutput !== undefined && (await currentSettings(app))['shared-output'] > 0;
  if (finishedAt === null && isShared) return;
  throw outputElsewhere(attempt);
}

/** Returns the error for output that is in a file of another host. */
function outputElsewhere({ ordinal, otherHost }: Attempt): QueueError {
  return new QueueError(
    'wrong-state',
    `the output of attempt ${ordinal} is on the host ${otherHost}`,
    'run the command on that host',
  );
}

/** Returns the path of the file that holds the output of a stream on another host. Null if no other host has such a file. */
export function fileOnOtherHost(app: Pick<App, 'store'>, attempt: Attempt, stream: Stream): string | null {
  const { otherDirectory, number, finishedAt, truncated } = attempt;
  if (otherDirectory === null) return null;
  const files = attemptFiles(stateDirectory(otherDirectory), app.store.epoch, number);
  const { output, short } = streamFiles(files, stream);
  return finishedAt !== null && truncated ? short : output;
}

function whereText(app: App, attempt: Attempt, stream: Stream): string {
  const path = fileOnOtherHost(app, attempt, stream);
  return path === null ? '' : `; the output file is ${path} on the host ${attempt.otherHost}`;
}
