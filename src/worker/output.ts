import { lstatSync } from 'node:fs';
import type { App } from '../actions/app.ts';
import type { ClaimedJob, Stream } from '../core/jobs/job.ts';
import { orNull } from '../core/text/language.ts';
import { trimStreams } from '../exec/trim.ts';
import { type AttemptFiles, streamFiles } from '../state/attempt-files.ts';
import { CHUNK_BYTES } from '../state/output.ts';
import { openWritten, type WrittenOutput } from '../state/output-reader.ts';
import type { OutputPart, SharedOutput } from '../store/contract/shared-output.ts';
import { isTemporary, oneAtATime } from './loops.ts';
import type { EndedAttempt, LiveAttempt, WorkerState } from './state.ts';

/** New output is shared at the latest after this time, or as soon as there are CHUNK_BYTES of it. */
const SHARE_MS = 500;
/** The interval between two looks at the sizes of output files. */
const LOOK_MS = 200;
/** The interval while nothing can be shared: the store cannot be reached, or the setting is 0. */
const PAUSE_MS = 1000;
/** One transaction shares about this many bytes at most. So the memory that this takes does not depend on the output. */
const TRANSACTION_BYTES = 1024 ** 2;
const NO_ENDS: Record<Stream, number> = { stdout: 0, stderr: 0 };

/** Copies the output of attempts into the store, so that other hosts can read it. */
export interface Sharing {
  /** Shares what running attempts have written since the last time. Does nothing for a while after the store failed. */
  shareRunning(live: Iterable<LiveAttempt>, keepBytes: number): Promise<void>;
  /** Shares the rest of long output before its attempt is settled. Short output moves into the store with the settlement. */
  shareRest(finished: EndedAttempt[], keepBytes: number): Promise<void>;
  /** Tells whether the last call of `shareRunning` failed, because the store could not be reached. */
  readonly hasFailed: boolean;
}

/** How much of the output of an attempt was shared. */
interface Progress {
  /** The positions after the last parts. Null if they are unknown, because another worker may have shared output. */
  ends: Record<Stream, number> | null;
  /** When output was last shared, or the attempt was first seen, by the monotonic clock. */
  sharedAt: number;
  /** Whether the store has told that the claim is lost. */
  isLost: boolean;
}

type AttemptWithFiles = Pick<LiveAttempt, 'job' | 'adopted'> & { files: AttemptFiles };
type Part = OutputPart & { progress: Progress };

/** Returns null if the store does not share output, because only one host uses it. */
export function createSharing({ store, clock }: Pick<App, 'store' | 'clock'>): Sharing | null {
  const { sharedOutput } = store;
  if (sharedOutput === undefined) return null;
  const exclusively = oneAtATime();
  const known = new WeakMap<ClaimedJob, Progress>();
  const progressOf = ({ job, adopted }: AttemptWithFiles): Progress => {
    let progress = known.get(job);
    if (progress === undefined) {
      // Output of a command that ends soon is not shared, because it moves into the store anyway.
      progress = { ends: adopted ? null : { ...NO_ENDS }, sharedAt: clock.monotonic(), isLost: false };
      known.set(job, progress);
    }
    return progress;
  };
  const isDue = (attempt: AttemptWithFiles): boolean => {
    const progress = progressOf(attempt);
    // The files of an attempt of another host are there.
    if (progress.isLost || attempt.job.otherHost !== null) return false;
    const waitedMs = clock.monotonic() - progress.sharedAt;
    const leastBytes = waitedMs >= SHARE_MS ? 1 : CHUNK_BYTES;
    return streamsOf(attempt.job).some(
      (stream) => fileSize(attempt.files, stream) - (progress.ends?.[stream] ?? 0) >= leastBytes,
    );
  };
  const share = async (attempts: AttemptWithFiles[], keepBytes: number): Promise<void> => {
    await learnEnds(sharedOutput, attempts, progressOf);
    let parts: Part[] = [];
    const send = async (): Promise<void> => {
      if (parts.length > 0) await shareParts(sharedOutput, parts, keepBytes, clock.monotonic());
      parts = [];
    };
    for (const part of partsOfAll(attempts, progressOf, keepBytes)) {
      parts.push(part);
      if (parts.reduce((sum, { bytes }) => sum + bytes.length, 0) >= TRANSACTION_BYTES) await send();
    }
    await send();
  };
  let hasFailed = false;
  return {
    shareRunning: (live, keepBytes) =>
      exclusively(async () => {
        try {
          if (keepBytes > 0) await share([...live].filter(isDue), keepBytes);
          hasFailed = false;
        } catch (error) {
          // The heartbeat reports the outage.
          if (!isTemporary(error)) throw error;
          hasFailed = true;
        }
      }),
    shareRest: async (finished, keepBytes) => {
      const long = finished.filter(hasLongOutput).filter((attempt) => !progressOf(attempt).isLost);
      if (keepBytes > 0 && long.length > 0) await exclusively(() => share(long, keepBytes));
    },
    get hasFailed() {
      return hasFailed;
    },
  };
}

/** Tells whether the output of an attempt is in files of this host, and stays there. */
function hasLongOutput(finished: EndedAttempt): finished is EndedAttempt & { files: AttemptFiles } {
  const { output } = finished.settlement;
  return finished.files !== null && output.bytes > 0 && output.kept === null;
}

const streamsOf = ({ splitOutput }: ClaimedJob): Stream[] =>
  splitOutput ? ['stdout', 'stderr'] : ['stdout'];

function fileSize(files: AttemptFiles, stream: Stream): number {
  const { output } = streamFiles(files, stream);
  return orNull(() => lstatSync(output, { throwIfNoEntry: false }))?.size ?? 0;
}

/** Asks the store how much was shared of attempts that were adopted. */
async function learnEnds(
  sharedOutput: SharedOutput,
  attempts: AttemptWithFiles[],
  progressOf: (attempt: AttemptWithFiles) => Progress,
): Promise<void> {
  const unknown = attempts.filter((attempt) => progressOf(attempt).ends === null);
  if (unknown.length === 0) return;
  const ends = await sharedOutput.sharedEnds(unknown.map(({ job }) => job.claim.attempt));
  for (const attempt of unknown) {
    const own = ends.filter((one) => one.attempt === attempt.job.claim.attempt);
    progressOf(attempt).ends = {
      ...NO_ENDS,
      ...Object.fromEntries(own.map(({ stream, end }) => [stream, end])),
    };
  }
}

/** Yields the parts to share of several attempts. Reads each only when it is wanted. */
function* partsOfAll(
  attempts: AttemptWithFiles[],
  progressOf: (attempt: AttemptWithFiles) => Progress,
  keepBytes: number,
): Generator<Part> {
  for (const attempt of attempts) {
    const { job, files } = attempt;
    const progress = progressOf(attempt);
    for (const stream of streamsOf(job)) {
      const output = openWritten(streamFiles(files, stream));
      if (output === null) continue;
      try {
        for (const part of partsOf(output, progress.ends![stream], keepBytes))
          yield { claim: job.claim, stream, ...part, progress };
      } finally {
        output.close();
      }
    }
  }
}

/** Yields the parts from a position on. After the first `keepBytes`, only the last ones are read. */
function* partsOf(
  output: WrittenOutput,
  from: number,
  keepBytes: number,
): Generator<{ at: number; bytes: Uint8Array }> {
  const { size } = output;
  for (let at = from; at < size; ) {
    const start = at < keepBytes ? at : Math.max(at, size - keepBytes);
    const end = Math.min(size, start + CHUNK_BYTES, start < keepBytes ? keepBytes : size);
    const part = output.read(start, end);
    at = part.at + part.bytes.length;
    if (part.bytes.length > 0) yield part;
    // The file was replaced by a shorter one.
    else if (part.at === start) return;
  }
}

async function shareParts(
  sharedOutput: SharedOutput,
  parts: Part[],
  keepBytes: number,
  now: number,
): Promise<void> {
  const held = new Set(await sharedOutput.share(parts, keepBytes));
  for (const { claim, stream, at, bytes, progress } of parts) {
    progress.isLost = !held.has(claim.attempt);
    progress.ends![stream] = at + bytes.length;
    progress.sharedAt = now;
  }
}

/** Returns the time until the next look at the output of running attempts, which is infinite while there are none. */
export function shareDelayMs({ live, sharing, settings }: WorkerState): number {
  if (sharing === null || live.size === 0) return Number.POSITIVE_INFINITY;
  return sharing.hasFailed || settings['shared-output'] === 0 ? PAUSE_MS : LOOK_MS;
}

export async function shareOutput({ sharing, live, settings }: WorkerState): Promise<void> {
  await sharing?.shareRunning(live.values(), settings['shared-output']);
}

const INTERVAL_MS = 500;

/** Returns the time until the next trimming, which is infinite while no attempt is running. */
export function trimDelayMs({ live }: Pick<WorkerState, 'live'>): number {
  return live.size === 0 ? Number.POSITIVE_INFINITY : INTERVAL_MS;
}

/** Trims the output files of running attempts that are far over the output limit. */
export async function trimRunning({ live, settings }: WorkerState): Promise<void> {
  const attempts = [...live.values()].map((attempt) => attempt.files);
  await Promise.all(attempts.map((files) => trimStreams(files, settings['output-limit'])));
}
