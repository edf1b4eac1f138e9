import { FINAL_STATES, type Job, type Stream } from '../core/job.ts';
import { lastLines } from '../core/last-lines.ts';
import { outputReader } from '../state/output-reader.ts';
import { outputIn, placeOf } from '../state/place.ts';
import type { Attempt } from '../store/contract/jobs.ts';
import type { App } from './app.ts';
import { getJob, showJob } from './jobs.ts';
import { keptOutput, noSuchAttempt, streamsOf } from './logs.ts';
import { stillNotOver } from './wait.ts';
import { startWaiting, type Waiting, type WaitingOptions } from './waiting.ts';

/** A command writes without telling anybody: its file is looked at this often. */
const OUTPUT_MS = 50;
/** Should a wake-up get lost, a look at the store this often finds out. */
const SAFETY_MS = 1000;

export interface FollowOptions extends WaitingOptions {
  /** Only this attempt, which need not have begun; null: the last one and all that follow. */
  ordinal: number | null;
  /** At most so many lines of what was written before; null: all. */
  lines: number | null;
  /** Only this stream, of a job that keeps them apart. */
  only: Stream | null;
}

export type Followed =
  | { kind: 'output'; attempt: Attempt; stream: Stream; data: Uint8Array }
  /** An attempt is over; the job as it is now may have others before it. */
  | { kind: 'attempt-over'; attempt: Attempt; job: Job };

/** What a job writes, as it comes, from before its start until its end: each byte once, wherever it is kept by then. */
export async function* follow(app: App, id: string, options: FollowOptions): AsyncGenerator<Followed> {
  const waiting = startWaiting(app, options);
  let shown = 0;
  try {
    for (let first = true; ; first = false) {
      // The job before its attempts: one that is over has all of them by then.
      const { job, attempts } = await showJob(app, id);
      const attempt = choose(attempts, shown, options.ordinal, first);
      if (attempt !== undefined) {
        shown = attempt.number;
        const lines = first ? options.lines : null;
        const ended = yield* followAttempt(app, job, attempt, { ...options, lines }, waiting);
        // An attempt whose command never started is gone, and another takes its place.
        if (ended !== null) yield { kind: 'attempt-over', attempt: ended, job: await getJob(app, id) };
        if (ended !== null && options.ordinal !== null) return;
        continue;
      }
      if (FINAL_STATES.includes(job.state)) {
        if (options.ordinal !== null) throw noSuchAttempt(id, options.ordinal, attempts);
        return;
      }
      if (waiting.over) throw stillNotOver(job);
      await waiting.next(SAFETY_MS);
    }
  } finally {
    waiting.close();
  }
}

function choose(
  attempts: Attempt[],
  shown: number,
  ordinal: number | null,
  first: boolean,
): Attempt | undefined {
  if (ordinal !== null) return attempts.find((one) => one.ordinal === ordinal && one.number > shown);
  return first ? attempts.at(-1) : attempts.find((one) => one.number > shown);
}

async function* followAttempt(
  app: App,
  job: Job,
  attempt: Attempt,
  { lines, only }: FollowOptions,
  waiting: Waiting,
): AsyncGenerator<Followed, Attempt | null> {
  const { directory } = placeOf(app.stateDirectory, app.store.epoch, attempt.number);
  const readers = streamsOf(job, only).map((stream) => ({
    stream,
    reader: outputReader(outputIn(directory, stream)),
  }));
  try {
    for (let first = true; ; first = false) {
      // Asked before reading: what was written before the end is in the file by now, or moved from it.
      const now = (await app.store.attempts(job.id)).find((one) => one.number === attempt.number);
      if (now === undefined) return null;
      const over = now.finishedAt !== null;
      for (const { stream, reader } of readers) {
        // Moved before it could be opened: then nothing of it has been shown.
        const moved = over && !reader.opened;
        let pieces = moved ? await keptOutput(app, now, stream) : reader.read();
        if ((first || moved) && lines !== null) pieces = [lastLines(pieces, lines)];
        for (const data of pieces) if (data.length > 0) yield { kind: 'output', attempt, stream, data };
      }
      if (over) return now;
      if (waiting.over) throw stillNotOver(job);
      await waiting.next(OUTPUT_MS);
    }
  } finally {
    for (const { reader } of readers) reader.close();
  }
}
