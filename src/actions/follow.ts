import { FINAL_STATES, type Job } from '../core/job.ts';
import { lastLines } from '../core/last-lines.ts';
import { outputReader } from '../exec/output-reader.ts';
import { placeOf } from '../exec/place.ts';
import type { Attempt } from '../store/store.ts';
import type { App } from './app.ts';
import { getJob, showJob } from './jobs.ts';
import { keptOutput, noSuchAttempt } from './logs.ts';
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
}

export type Followed =
  | { kind: 'output'; attempt: Attempt; data: Uint8Array }
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
        const ended = yield* followAttempt(app, job, attempt, first ? options.lines : null, waiting);
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
  lines: number | null,
  waiting: Waiting,
): AsyncGenerator<Followed, Attempt | null> {
  const reader = outputReader(placeOf(app.stateDirectory, app.store.epoch, attempt.number));
  try {
    for (let first = true; ; first = false) {
      // Asked before reading: what was written before the end is in the file by now, or moved from it.
      const now = (await app.store.attempts(job.id)).find((one) => one.number === attempt.number);
      if (now === undefined) return null;
      const over = now.finishedAt !== null;
      // Moved before it could be opened: then nothing of it has been shown.
      const moved = over && !reader.opened;
      let pieces = moved ? await keptOutput(app, now) : reader.read();
      if ((first || moved) && lines !== null) pieces = [lastLines(pieces, lines)];
      for (const data of pieces) if (data.length > 0) yield { kind: 'output', attempt, data };
      if (over) return now;
      if (waiting.over) throw stillNotOver(job);
      await waiting.next(OUTPUT_MS);
    }
  } finally {
    reader.close();
  }
}
