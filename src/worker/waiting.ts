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
  let ending: Promise<Ending> | undefined;
  // If the command cannot be ended, for example because the store failed, the worker fails without waiting for the command.
  const endingError = Promise.withResolvers<never>();
  endingError.promise.catch(() => {});
  const giveUp = (error: unknown): Ending => {
    endingError.reject(error);
    // If the command has ended by then, this worker does not settle the attempt, as after a lost claim.
    return 'claim-lost';
  };
  attempt.onRequest = () => {
    const reason = requests[0];
    if (reason !== undefined && !exitNoticed)
      ending ??= endAttempt(context, job, target, reason, isOver).catch(giveUp);
  };
  attempt.onRequest();
  const cancelTimeout = startTimeout(job, command.ageMs, () => {
    requests.push('timeout');
    attempt.onRequest();
  });
  const exit = await Promise.race([command.exit, endingError.promise]);
  const exitedAt = context.app.clock.monotonic();
  exitNoticed = true;
  cancelTimeout();
  return { exit, exitedAt, ending };
}

/** Calls `callback` when the job's timeout, if it has one, has passed. Returns a function that cancels this. */
function startTimeout(job: ClaimedJob, ageMs: number, callback: () => void): () => void {
  if (job.timeoutMs === null) return () => {};
  return longTimeout(callback, Math.max(0, job.timeoutMs - ageMs));
}
