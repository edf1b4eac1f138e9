import { pause } from '../core/clock.ts';
import type { ClaimedJob, EndReason } from '../core/job.ts';
import type { Outcome } from '../core/outcome.ts';
import { signalNumber } from '../core/signals.ts';
import { freezeCommand } from '../exec/freeze.ts';
import { endProcesses, type Target } from '../exec/kill.ts';
import type { ExitCode } from '../exec/start.ts';
import type { AttemptContext } from './attempt.ts';
import { patiently } from './patience.ts';

/** How a request to end an attempt came out. `had-ended`: its command ended by itself before the first signal. */
export type Ending = 'ended' | 'had-ended' | 'claim-lost';

/** The signals that service managers, terminals and `kill` stop programs with. */
const STOP_CODES = new Set(
  ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGKILL'].map((name) => 128 + signalNumber(name)),
);
/**
 * A stop often signals workers and jobs at the same moment, and a job's end may be seen before the worker's own signal
 * arrives. The worker waits this long for it before it charges the attempt.
 */
const STOP_WAIT_MS = 500;
/** The signals of one stop reach a worker, a frame and its command within this time of each other. */
const STOP_SPREAD_MS = 100;
const LOOK_MS = 10;

/** Ends a running command for a reason, unless it has ended by itself. */
export async function endAttempt(
  { app, emit, settings }: AttemptContext,
  job: ClaimedJob,
  target: Target,
  reason: EndReason,
  hasEnded: () => boolean,
): Promise<Ending> {
  if (hasEnded()) return 'had-ended';
  // Committed before the first signal: whoever settles this attempt, after whatever crash, knows why it ended.
  if (!(await patiently(() => app.store.mark(job.claim, reason)))) return 'claim-lost';
  if (!(await freezeCommand(target, hasEnded))) return 'had-ended';
  emit({ type: 'attempt-ending', job, reason });
  await endProcesses(target, settings()['kill-grace']);
  return 'ended';
}

/** Returns the outcome of a command that this worker ended. A stop does not repeat a command that reports success. */
export function outcomeOfEnding(reason: EndReason, exit: ExitCode | null): Outcome {
  return reason === 'stopped' && exit?.code === 0 ? { why: 'exited', code: 0 } : { why: reason };
}

/**
 * Returns the outcome of a command that this worker did not end. A stop signal that is not ours is not the job's fault while
 * its worker is being stopped. An earlier holder may have committed a reason, signalled the command and died.
 */
export async function outcomeOf(
  context: AttemptContext,
  job: ClaimedJob,
  exit: ExitCode | null,
  stopped: boolean,
): Promise<Outcome> {
  const signalled = exit === null || looksStopped(exit);
  if (signalled && job.endReason !== null) return { why: job.endReason };
  if (exit === null) return { why: 'lost' };
  if (signalled && (stopped || (await stopsSoon(context)))) return { why: 'stopped' };
  return { why: 'exited', code: exit.code };
}

/** Returns whether the command's end can be the effect of a stop signal that queuectl did not send. */
function looksStopped({ code, signalled }: ExitCode): boolean {
  return code !== 0 && (signalled || STOP_CODES.has(code));
}

/** Returns whether the worker is being stopped, now or in a moment. */
async function stopsSoon({ isStopping }: AttemptContext): Promise<boolean> {
  const deadline = performance.now() + STOP_WAIT_MS;
  while (!isStopping() && performance.now() < deadline) await pause(LOOK_MS);
  return isStopping();
}

/**
 * Returns whether a command failed around the moment when its worker got a stop signal. A command that handles the signal
 * may exit with any code, and may do so before its frame gets the signal and can note it. Its end before the signal is
 * known to be its own only once it is settled. Other signals, such as SIGSEGV, are the command's own fault.
 */
export function failedInStop({ signalledAt }: AttemptContext, outcome: Outcome, exitAt: number): boolean {
  const apart = Math.abs(exitAt - signalledAt());
  return outcome.why === 'exited' && outcome.code <= 128 && apart < STOP_SPREAD_MS;
}
