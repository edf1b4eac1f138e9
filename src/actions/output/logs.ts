import { existsSync } from 'node:fs';
import { QueueError } from '../../core/errors.ts';
import { FINAL_STATES, type Job, type Stream } from '../../core/jobs/job.ts';
import { lastLines } from '../../core/text/last-lines.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { sliceOf } from '../../state/output.ts';
import type { Attempt } from '../../store/contract/jobs.ts';
import type { App } from '../app.ts';
import { getJob, getJobWithAttempts } from '../jobs/jobs.ts';
import { type ChangeWatch, type WatchOptions, waitTimeoutError, watchChanges } from '../jobs/wait.ts';
import { outputFilesOf, readerOf, readOutput, readRange } from './outputs.ts';

/**
 * Reads the output of one attempt. `ordinal` null means the last attempt, which is null if the job has not run yet. `only` null
 * means all streams. Split output has two streams, stdout first. Other output counts as stdout.
 */
export async function readLogs(app: App, id: string, ordinal: number | null, only: Stream | null) {
  const { job, attempts } = await getJobWithAttempts(app, id);
  const wantedStreams = streamsOf(job, only);
  const attempt = chooseAttempt(id, attempts, ordinal);
  const streams: { stream: Stream; pieces: Iterable<Uint8Array> }[] = [];
  if (attempt !== null)
    for (const stream of wantedStreams)
      streams.push({ stream, pieces: await readOutput(app, attempt, stream) });
  return { attempt, streams };
}

interface RangeRequest {
  /** Null means the last attempt. */
  ordinal: number | null;
  /** Null means all output, or stdout if the output is split. */
  stream: Stream | null;
  /** The position of the first byte. A negative number counts from the end. */
  from: number;
  maxBytes: number;
}

/** Reads a byte range of the output of one attempt. */
export async function readOutputRange(app: App, id: string, request: RangeRequest) {
  const { ordinal, from, maxBytes } = request;
  const { job, attempts } = await getJobWithAttempts(app, id);
  const stream = streamsOf(job, request.stream)[0]!;
  const attempt = chooseAttempt(id, attempts, ordinal);
  if (attempt === null) return { attempt, ...sliceOf(new Uint8Array(), 0, 0) };
  return { attempt, ...(await readRange(app, attempt, stream, from, maxBytes)) };
}

/** Returns the attempt with this ordinal, which must exist. If it is null, returns the last attempt, or null if there is none. */
function chooseAttempt(id: string, attempts: Attempt[], ordinal: number | null): Attempt | null {
  if (ordinal === null) return attempts.at(-1) ?? null;
  const found = attempts.find((one) => one.ordinal === ordinal);
  if (found === undefined) throw noSuchAttempt(id, ordinal, attempts);
  return found;
}

/** Returns the streams to read. Throws if `only` names one and the output is not split. */
export function streamsOf(job: Job, only: Stream | null): Stream[] {
  if (job.splitOutput) return only === null ? ['stdout', 'stderr'] : [only];
  if (only === null) return ['stdout'];
  throw new QueueError(
    'wrong-state',
    `stdout and stderr of job '${job.id}' were not stored separately, because it was enqueued without --split-output`,
    `to print both: queuectl logs ${shellWord(job.id)}`,
  );
}

function noSuchAttempt(id: string, ordinal: number, attempts: Attempt[]): QueueError {
  const knownAttempts = attempts.length === 0 ? '; it has not run yet' : `, only ${listAttempts(attempts)}`;
  return new QueueError('attempt-not-found', `job '${id}' has no attempt ${ordinal}${knownAttempts}`);
}

/** Lists the attempts in words, such as "attempt 1", "attempts 1 and 2" or "attempts 1 to 5". */
function listAttempts(attempts: Attempt[]): string {
  const numbers = attempts.map((one) => one.ordinal);
  const first = numbers[0]!;
  const last = numbers.at(-1)!;
  if (numbers.length === 1) return `attempt ${first}`;
  if (numbers.length > 2 && last - first === numbers.length - 1) return `attempts ${first} to ${last}`;
  return `attempts ${numbers.slice(0, -1).join(', ')} and ${last}`;
}

/** Returns the paths of the output files of one attempt. `ordinal` null means the last one. Throws if the output is not in files. */
export async function outputPaths(app: App, id: string, ordinal: number | null, only: Stream | null) {
  const { job, attempts } = await getJobWithAttempts(app, id);
  const attempt = chooseAttempt(id, attempts, ordinal);
  if (attempt === null)
    throw new QueueError(
      'attempt-not-found',
      `job '${id}' has not started yet`,
      `to wait for it: queuectl logs -f ${shellWord(id)}`,
    );
  const paths = streamsOf(job, only).map((stream) => ({
    stream,
    path: outputFilesOf(app, attempt, stream).output,
  }));
  if (!paths.every(({ path }) => existsSync(path)))
    throw new QueueError(
      'wrong-state',
      `the output of job '${id}' is stored in the database, not in a file`,
      `to copy it to a file: queuectl logs ${shellWord(id)} >FILE`,
    );
  return { ordinal: attempt.ordinal, paths };
}

/** The interval between two reads of an output file. Commands do not report when they write. */
const OUTPUT_POLL_MS = 50;
/** The interval between two reads of output that another host shares. */
const SHARED_POLL_MS = 250;

export interface OutputFollowOptions extends WatchOptions {
  /** Follows only the attempt with this ordinal, and waits for it to start. Null follows the last attempt and all later ones. */
  ordinal: number | null;
  /** Yields only this many of the last lines that were written before the call. Null yields all of them. */
  lines: number | null;
  /** Follows only this stream of a job with split output. Null follows all streams. */
  only: Stream | null;
}

export type FollowItem =
  | { kind: 'output'; attempt: Attempt; stream: Stream; data: Uint8Array }
  /** An attempt has ended. `job` was read after that. */
  | { kind: 'attempt-over'; attempt: Attempt; job: Job };

/** Yields the output of a job as it is written, no byte twice, until the job (or the chosen attempt) has ended. */
export async function* follow(
  app: App,
  id: string,
  options: OutputFollowOptions,
): AsyncGenerator<FollowItem> {
  const watch = watchChanges(app, options);
  let lastFollowed = 0;
  try {
    for (let isFirst = true; ; isFirst = false) {
      // The job is read before its attempts. If the job has ended by then, the list of attempts is complete.
      const { job, attempts } = await getJobWithAttempts(app, id);
      const attempt = nextAttempt(attempts, lastFollowed, options.ordinal, isFirst);
      if (attempt !== undefined) {
        lastFollowed = attempt.number;
        const lines = isFirst ? options.lines : null;
        const endedAttempt = yield* followAttempt(app, job, attempt, { ...options, lines }, watch);
        // `endedAttempt` is null if the attempt was removed because its command never started. The job may get another one.
        if (endedAttempt !== null)
          yield { kind: 'attempt-over', attempt: endedAttempt, job: await getJob(app, id) };
        if (endedAttempt !== null && options.ordinal !== null) return;
        continue;
      }
      if (FINAL_STATES.includes(job.state)) {
        if (options.ordinal !== null) throw noSuchAttempt(id, options.ordinal, attempts);
        return;
      }
      if (watch.isTimedOut) throw waitTimeoutError(job);
      await watch.next();
    }
  } finally {
    watch.close();
  }
}

function nextAttempt(attempts: Attempt[], lastFollowed: number, ordinal: number | null, isFirst: boolean) {
  if (ordinal !== null) return attempts.find((one) => one.ordinal === ordinal && one.number > lastFollowed);
  return isFirst ? attempts.at(-1) : attempts.find((one) => one.number > lastFollowed);
}

async function* followAttempt(
  app: App,
  job: Job,
  attempt: Attempt,
  { lines, only }: OutputFollowOptions,
  watch: ChangeWatch,
): AsyncGenerator<FollowItem, Attempt | null> {
  const readers = streamsOf(job, only).map((stream) => ({
    stream,
    reader: readerOf(app, attempt, stream),
  }));
  try {
    for (let isFirst = true; ; isFirst = false) {
      // The state is read before the output. If the attempt has ended by then, its output is complete.
      const current = (await app.store.attempts(job.id)).find((one) => one.number === attempt.number);
      if (current === undefined) return null;
      const hasEnded = current.finishedAt !== null;
      for (const { stream, reader } of readers) {
        // If the output moved to the store before its file could be opened, nothing of it has been yielded.
        const movedToStore = hasEnded && !reader.opened;
        let pieces = movedToStore ? await readOutput(app, current, stream) : await reader.read();
        if ((isFirst || movedToStore) && lines !== null) pieces = [lastLines(pieces, lines)];
        for (const data of pieces) if (data.length > 0) yield { kind: 'output', attempt, stream, data };
      }
      if (hasEnded) return current;
      if (watch.isTimedOut) throw waitTimeoutError(job);
      await watch.next(attempt.otherHost === null ? OUTPUT_POLL_MS : SHARED_POLL_MS);
    }
  } finally {
    for (const { reader } of readers) reader.close();
  }
}
