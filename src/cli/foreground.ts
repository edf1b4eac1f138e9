import { interrupt } from '../actions/interrupt.ts';
import { FINAL_STATES, type Job } from '../core/job.ts';
import { answerFor } from '../core/outcome.ts';
import type { Context } from './command.ts';
import { FROM_THE_START, followJob } from './follow-job.ts';
import { Interrupted, noteJobsContinue, onInterrupt } from './interrupt.ts';

/** Follows a job as if it ran here. The first Ctrl-C or SIGTERM goes to the job, a second one stops following. */
export async function inForeground(
  context: Context,
  { id }: Job,
  options: { raw: boolean; timeoutMs: number | null },
): Promise<number> {
  const app = await context.app();
  const stop = new AbortController();
  let passed: NodeJS.Signals | null = null;
  let ownCode: number | null = null;
  const release = onInterrupt((signal) => {
    if (passed !== null) return stop.abort(new Interrupted(signal));
    passed = signal;
    interrupt(app, id, signal).catch((error) => stop.abort(error));
  });
  context.io.note(`enqueued job ${id}`);
  try {
    const job = await followJob(context, id, {
      ...FROM_THE_START,
      ...options,
      signal: stop.signal,
      async onAttemptOver(attempt, now) {
        // An interrupted command must not be retried, so a job that would be is cancelled.
        if (passed === null || FINAL_STATES.includes(now.state)) return;
        ownCode = attempt.exitCode;
        await interrupt(app, id, passed);
      },
    });
    return job.state === 'cancelled' ? (ownCode ?? answerFor(job)) : answerFor(job);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    await noteJobsContinue(context, [id]);
    return error.exitCode;
  } finally {
    release();
  }
}
