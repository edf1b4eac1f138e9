import type { ClaimedJob } from '../core/job.ts';
import { hasEnded } from '../exec/observe-attempt.ts';
import type { Exit } from '../exec/start.ts';
import type { Attempt, StartedCommand } from './attempt.ts';
import { type Ending, endAttempt } from './ending.ts';
import { longTimeout } from './timer.ts';

/** The observed end of a command. */
export interface ObservedExit {
  /** Null if the command left no exit code. */
  exit: Exit | null;
  /** When this worker noticed the end, by the monotonic clock. */
  exitedAt: number;
  /** The result of ending the command, if that was requested. */
  ending: Promise<Ending> | undefined;
}

/** Waits until a command has ended. Ends it on request and at its timeout. */
export async function waitForExit(attempt: Attempt, command: StartedCommand): Promise<ObservedExit> {
  const { context, job, place, requests } = attempt;
  const { target } = command;
  let exitNoticed = false;
  const isOver = (): boolean => exitNoticed || hasEnded(place, target.group);
  const request: { ending?: Promise<Ending> } = {};
  // If a reason cannot be committed, the worker has to fail at once and not only when the command ends.
  const commitError = Promise.withResolvers<never>();
  commitError.promise.catch(() => {});
  const giveUp = (error: unknown): Ending => {
    commitError.reject(error);
    return 'claim-lost';
  };
  attempt.onRequest = () => {
    const reason = requests[0];
    if (reason !== undefined && !exitNoticed)
      request.ending ??= endAttempt(context, job, target, reason, isOver).catch(giveUp);
  };
  attempt.onRequest();
  const cancelTimeout = startTimeout(job, command.ageMs, () => {
    requests.push('timeout');
    attempt.onRequest();
  });
  const exit = await Promise.race([command.exit, commitError.promise]);
  const exitedAt = context.app.clock.monotonic();
  exitNoticed = true;
  cancelTimeout();
  return { exit, exitedAt, ending: request.ending };
}

/** Calls back when the job's timeout has passed. Returns a function that prevents it. */
function startTimeout(job: ClaimedJob, ageMs: number, callback: () => void): () => void {
  if (job.timeoutMs === null) return () => {};
  return longTimeout(callback, Math.max(0, job.timeoutMs - ageMs));
}
