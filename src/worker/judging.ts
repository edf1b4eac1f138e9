import { existsSync } from 'node:fs';
import type { ClaimedJob, EndReason } from '../core/jobs/job.ts';
import type { Outcome } from '../core/rules/outcome.ts';
import { signalNumber } from '../core/signals.ts';
import { pollUntil } from '../core/time/clock.ts';
import { endProcesses, groupExists } from '../exec/kill.ts';
import { processes } from '../exec/processes.ts';
import type { ExitCode } from '../exec/start.ts';
import type { AttemptFiles } from '../state/attempt-files.ts';
import type { AttemptContext, ObservedExit, RunningAttempt, StartedCommand, Verdict } from './attempt.ts';

/** The exit codes of the signals with which service managers, terminals and `kill` stop programs. */
const STOP_CODES = new Set(
  ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGKILL'].map((name) => 128 + signalNumber(name)),
);
/** A job may get a stop signal before its worker does. The worker waits this long for a stop order before it charges the attempt. */
const STOP_WAIT_MS = 500;
/** If the frame got a signal, a stop is likely, so the worker waits longer. */
const NOTED_WAIT_MS = 1000;
/** If nothing shows that a failed command got a signal, the worker waits for at most this share of the time that it ran. */
const WAIT_SHARE = 0.1;
const POLL_MS = 10;

/** Finds out why an attempt ended, and ends the processes that a failed command left. Returns null if the claim was lost. */
export async function judge(
  { context, job, files, requests }: RunningAttempt,
  { target, stopped = false, endedAt }: StartedCommand,
  observed: ObservedExit,
): Promise<Verdict | null> {
  const { exit } = observed;
  if (exit === 'gate-lost') return { outcome: { why: 'never-started' }, hasNoFiles: true };
  if (exit === 'no-room') return { outcome: { why: 'never-started' } };
  const result = (await observed.ending) ?? 'had-ended';
  if (result === 'claim-lost') return null;
  if (result === 'ended') return { outcome: outcomeOfEnding(requests[0]!, exit) };
  if (exit?.code === 0) {
    const leftBehind = groupExists(target.group) ? processes.find(target).map((one) => one.pid) : [];
    return { outcome: { why: 'exited', code: 0 }, leftBehind, endedAt };
  }
  // The processes that are left are ended while the worker waits for a stop.
  const [outcome] = await Promise.all([
    outcomeOfFailure(context, job, { ...observed, exit }, stopped, files),
    endProcesses(target, context.settings['kill-grace']),
  ]);
  return { outcome, endedAt };
}

/** Returns the outcome of a command that this worker ended. A command that exits with 0 on a stop is not run again. */
function outcomeOfEnding(reason: EndReason, exit: ExitCode | null): Outcome {
  return reason === 'stopped' && exit?.code === 0 ? { why: 'exited', code: 0 } : { why: reason }; // fault-control: success-on-stop
}

/** Returns the outcome of a command that failed and that this worker did not end. A stop signal is not charged if the worker is stopping. */
async function outcomeOfFailure(
  context: AttemptContext,
  job: ClaimedJob,
  { exit, ranMs, signalledBefore }: { exit: ExitCode | null; ranMs: number; signalledBefore: boolean },
  stopped: boolean,
  files: AttemptFiles,
): Promise<Outcome> {
  const signalled = exit === null || looksStopped(exit);
  // A former worker may have committed a reason, signalled the command and died.
  if (signalled && job.endReason !== null) return { why: job.endReason };
  if (wasGuarded(context, files)) return { why: 'stopped', byGuard: true };
  if (exit === null) return { why: 'lost' };
  const { code } = exit;
  const waitMs = exit.signalled ? NOTED_WAIT_MS : STOP_WAIT_MS;
  const isStopped = signalled
    ? stopped || (await comesSoon(waitMs, () => context.order !== null)) // fault-control: own-stop
    : // A command that handles the signal may exit with any code before its frame gets the signal. Other signals are charged.
      code <= 128 &&
      (signalledBefore ||
        (await comesSoon(Math.min(STOP_WAIT_MS, ranMs * WAIT_SHARE), () => context.recentSignals > 0)));
  return isStopped ? { why: 'stopped' } : { why: 'exited', code };
}

/** Tells whether the guard of this host has stopped the command, which is not the fault of the job. */
function wasGuarded({ app }: AttemptContext, files: AttemptFiles): boolean {
  return app.store.manyHosts === true && existsSync(files.guarded);
}

/** Tells whether the command may have ended because of a stop signal. */
function looksStopped({ code, signalled }: ExitCode): boolean {
  return code !== 0 && (signalled || STOP_CODES.has(code));
}

/** Waits until the condition holds, at most for this time. On a busy machine it waits longer, because each step waits for the processor. */
async function comesSoon(limitMs: number, condition: () => boolean): Promise<boolean> {
  let pollsLeft = Math.ceil(limitMs / POLL_MS);
  await pollUntil(() => condition() || pollsLeft-- <= 0, POLL_MS);
  return condition();
}
