import { QueueError } from '../core/errors.ts';
import type { Job, Stream } from '../core/job.ts';
import { sliceOf } from '../state/output.ts';
import type { Attempt } from '../store/contract/jobs.ts';
import type { App } from './app.ts';
import { getJobWithAttempts } from './jobs.ts';
import { readOutput, readRange } from './outputs.ts';

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

export interface RangeRequest {
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
export function chooseAttempt(id: string, attempts: Attempt[], ordinal: number | null): Attempt | null {
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
    `to print both: queuectl logs ${job.id}`,
  );
}

export function noSuchAttempt(id: string, ordinal: number, attempts: Attempt[]): QueueError {
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
