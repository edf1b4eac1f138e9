import { FINAL_STATES, type Job, type Stream } from '../core/job.ts';
import { lastLines } from '../core/last-lines.ts';
import type { Attempt } from '../store/contract/jobs.ts';
import type { App } from './app.ts';
import { type ChangeWatch, type WatchOptions, watchChanges } from './change-watch.ts';
import { getJob, getJobWithAttempts } from './jobs.ts';
import { noSuchAttempt, streamsOf } from './logs.ts';
import { readerOf, readOutput } from './outputs.ts';
import { waitTimeoutError } from './wait.ts';

/** The interval between two reads of an output file. Commands do not report when they write. */
const OUTPUT_POLL_MS = 50;
/** The interval between two reads of output that another host shares. */
const SHARED_POLL_MS = 250;

export interface FollowOptions extends WatchOptions {
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
export async function* follow(app: App, id: string, options: FollowOptions): AsyncGenerator<FollowItem> {
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
  { lines, only }: FollowOptions,
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
