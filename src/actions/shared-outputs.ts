import { QueueError } from '../core/errors.ts';
import type { Stream } from '../core/job.ts';
import { CHUNK_BYTES, gapMark, type OutputRange } from '../state/output.ts';
import { newPlace, outputPlaceIn } from '../state/place.ts';
import { stateDirectory } from '../state/state-directory.ts';
import type { Attempt } from '../store/contract/jobs.ts';
import { type App, currentSettings } from './app.ts';

/* These functions read output that another host has in a file. outputs.ts calls them. */

/** Reads the shared output of a stream from the start. Throws if the attempt has output, and none of it was shared. */
export async function readShared(app: App, attempt: Attempt, stream: Stream): Promise<Uint8Array[]> {
  const reader = sharedReader(app, attempt, stream);
  const pieces = await reader.read();
  if (pieces.length === 0) await refuseUnshared(app, attempt);
  return pieces;
}

/** Reads a byte range of the shared output of a stream. A range that begins in a gap holds the mark instead. */
export async function readSharedRange(
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
export function sharedReader(app: App, attempt: Attempt, stream: Stream) {
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
export function outputElsewhere({ ordinal, otherHost }: Attempt): QueueError {
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
  const place = newPlace(stateDirectory(otherDirectory), app.store.epoch, number);
  const { output, short } = outputPlaceIn(place, stream);
  return finishedAt !== null && truncated ? short : output;
}

function whereText(app: App, attempt: Attempt, stream: Stream): string {
  const path = fileOnOtherHost(app, attempt, stream);
  return path === null ? '' : `; the output file is ${path} on the host ${attempt.otherHost}`;
}
