import { interrupt } from '../actions/interrupt.ts';
import { FINAL_STATES, type Job } from '../core/job.ts';
import { answerFor } from '../core/outcome.ts';
import type { Context } from './command.ts';
import { FROM_THE_START, followJob } from './follow-job.ts';
import { Interrupted, onInterrupt, sayWhatGoesOn } from './interrupt.ts';

/** Follows a job as if it ran in this terminal: the first Ctrl-C or SIGTERM is the job's, a second one ours. */
export async function inForeground(
  context: Context,
  { id }: Job,
  options: { raw: boolean; timeoutMs: number | null },
): Promise<number> {
  const { io } = context;
  const app = await context.app();
  const stop = new AbortController();
  let passed: NodeJS.Signals | null = null;
  let takenBack = false;
  let ownCode: number | null = null;
  let passing: Promise<void> = Promise.resolve();

  const passOn = async (signal: NodeJS.Signals): Promise<void> => {
    takenBack = (await interrupt(app, id, signal)) === 'taken-back';
    if (takenBack) stop.abort(new Interrupted(signal));
  };
  const release = onInterrupt((signal) => {
    if (passed !== null) return stop.abort(new Interrupted(signal));
    passed = signal;
    passing = passOn(signal).catch((error) => stop.abort(error));
  });
  io.note(`job ${id}`);
  try {
    const job = await followJob(context, id, {
      ...FROM_THE_START,
      ...options,
      signal: stop.signal,
      async onAttemptOver(attempt, now) {
        // Who interrupts a command does not want it to be tried again.
        if (passed === null || FINAL_STATES.includes(now.state)) return false;
        ownCode = attempt.exitCode;
        await passOn(passed);
        return takenBack;
      },
    });
    if (!takenBack) return answerFor(job);
    throw new Interrupted(passed!);
  } catch (error) {
    // A job that was taken out may be missed before we are told that it was.
    await passing;
    if (!takenBack && !(error instanceof Interrupted)) throw error;
    if (!takenBack) await sayWhatGoesOn(context, [id]);
    else if (!io.quiet && !io.json) io.err(`job ${id} was taken out of its queue\n`);
    return ownCode ?? new Interrupted(passed!).exitCode;
  } finally {
    release();
  }
}
