import { FINAL_STATES, type Job, type Stream } from '../core/job.ts';
import { lastLines } from '../core/last-lines.ts';
import { outputReader } from '../state/output-reader.ts';
import type { Attempt } from '../store/contract/jobs.ts';
import type { App } from './app.ts';
import { getJob, showJob } from './jobs.ts';
import { keptOutput, noSuchAttempt, outputOf, streamsOf } from './logs.ts';
import { stillNotOver } from './wait.ts';
import { startWaiting, type Waiting, type WaitingOptions } from './waiting.ts';

/** The output file is read this often, because a command does not report what it writes. */
const OUTPUT_MS = 50;

export interface FollowOptions extends WaitingOptions {
  /** Follows only this attempt, which need not have begun; null: the last one and all later ones. */
  ordinal: number | null;
  /** Limits the lines of output that was written before; null: all. */
  lines: number | null;
  /** Follows only this stream of a job with split output. */
  only: Stream | null;
}

export type Followed =
  | { kind: 'output'; attempt: Attempt; stream: Stream; data: Uint8Array }
  /** An attempt has ended. `job` is its job after that. */
  | { kind: 'attempt-over'; attempt: Attempt; job: Job };

/** Yields each byte of a job's output once, from before its start until its end. */
export async function* follow(app: App, id: string, options: FollowOptions): AsyncGenerator<Followed> {
  const waiting = startWaiting(app, options);
  let shown = 0;
  try {
    for (let first = true; ; first = false) {
      // The job is read before its attempts. If it has ended by then, the list of attempts is complete.
      const { job, attempts } = await showJob(app, id);
      const attempt = choose(attempts, shown, options.ordinal, first);
      if (attempt !== undefined) {
        shown = attempt.number;
        const lines = first ? options.lines : null;
        const ended = yield* followAttempt(app, job, attempt, { ...options, lines }, waiting);
        // An attempt whose command never started was removed, and another follows.
        if (ended !== null) yield { kind: 'attempt-over', attempt: ended, job: await getJob(app, id) };
        if (ended !== null && options.ordinal !== null) return;
        continue;
      }
      if (FINAL_STATES.includes(job.state)) {
        if (options.ordinal !== null) throw noSuchAttempt(id, options.ordinal, attempts);
        return;
      }
      if (waiting.over) throw stillNotOver(job);
      await waiting.next();
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
  const readers = streamsOf(job, only).map((stream) => ({
    stream,
    reader: outputReader(outputOf(app, attempt, stream)),
  }));
  try {
    for (let first = true; ; first = false) {
      // The state is read before the output. If the attempt has ended by then, its output is complete.
      const now = (await app.store.attempts(job.id)).find((one) => one.number === attempt.number);
      if (now === undefined) return null;
      const over = now.finishedAt !== null;
      for (const { stream, reader } of readers) {
        // If the output moved to the store before its file could be opened, nothing of it has been shown.
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
