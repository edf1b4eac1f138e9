import { existsSync } from 'node:fs';
import { pause } from '../core/clock.ts';
import type { ClaimedJob, EndReason } from '../core/job.ts';
import type { Outcome } from '../core/outcome.ts';
import { signalNumber } from '../core/signals.ts';
import { endProcesses, groupExists } from '../exec/kill.ts';
import { processes } from '../exec/processes.ts';
import type { ExitCode } from '../exec/start.ts';
import type { Place } from '../state/place.ts';
import type { Attempt, AttemptContext, StartedCommand, Verdict } from './attempt.ts';
import type { ObservedExit } from './waiting.ts';

/** The exit codes of the signals with which service managers, terminals and `kill` stop programs. */
const STOP_CODES = new Set(
  ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGKILL'].map((name) => 128 + signalNumber(name)),
);
/** A job may get a stop signal before its worker does. The worker waits this long for a stop order before it charges the attempt. */
const STOP_WAIT_MS = 500;
/** The signals of one stop reach a worker, a frame and its command within this time of each other. */
const STOP_SPREAD_MS = 100; // fault-control: stop-spread
const POLL_MS = 10;

/** Finds out why an attempt ended, and ends the processes that a failed command left. Returns null if the claim was lost. */
export async function judge(
  { context, job, place, requests }: Attempt,
  { target, stopped = false, endedAt }: StartedCommand,
  { exit, exitedAt, ending }: ObservedExit,
): Promise<Verdict | null> {
  if (exit === 'gate-lost') return { outcome: { why: 'never-started' }, hasNoPlace: true };
  if (exit === 'no-room') return { outcome: { why: 'never-started' } };
  const result = (await ending) ?? 'had-ended';
  if (result === 'claim-lost') return null;
  if (result === 'ended') return { outcome: outcomeOfEnding(requests[0]!, exit) };
  const outcome = await outcomeOf(context, job, exit, stopped, place);
  if (outcome.why === 'exited' && outcome.code === 0) {
    const leftBehind = groupExists(target.group) ? processes.find(target).map((one) => one.pid) : [];
    return { outcome, leftBehind, endedAt };
  }
  await endProcesses(target, context.settings['kill-grace']);
  return { outcome: failedDuringStop(context, outcome, exitedAt) ? { why: 'stopped' } : outcome, endedAt };
}

/** Returns the outcome of a command that this worker ended. A command that exits with 0 on a stop is not run again. */
function outcomeOfEnding(reason: EndReason, exit: ExitCode | null): Outcome {
  return reason === 'stopped' && exit?.code === 0 ? { why: 'exited', code: 0 } : { why: reason }; // fault-control: success-on-stop
}

/** Returns the outcome of a command that this worker did not end. A stop signal is not charged if the worker is stopping. */
async function outcomeOf(
  context: AttemptContext,
  job: ClaimedJob,
  exit: ExitCode | null,
  stopped: boolean,
  place: Place,
): Promise<Outcome> {
  const signalled = exit === null || looksStopped(exit);
  // A former worker may have committed a reason, signalled the command and died.
  if (signalled && job.endReason !== null) return { why: job.endReason };
  if (exit?.code !== 0 && wasGuarded(context, place)) return { why: 'stopped', byGuard: true };
  if (exit === null) return { why: 'lost' };
  if (signalled && (stopped || (await stopsSoon(context)))) return { why: 'stopped' }; // fault-control: own-stop
  return { why: 'exited', code: exit.code };
}

/** Tells whether the guard of this host has stopped the command, which is not the fault of the job. */
function wasGuarded({ app }: AttemptContext, place: Place): boolean {
  return app.store.manyHosts === true && existsSync(place.guarded);
}

/** Tells whether the command may have ended because of a stop signal. */
function looksStopped({ code, signalled }: ExitCode): boolean {
  return code !== 0 && (signalled || STOP_CODES.has(code));
}

/** Tells whether the worker is being stopped. Waits up to STOP_WAIT_MS for the order. */
async function stopsSoon(context: AttemptContext): Promise<boolean> {
  const deadline = performance.now() + STOP_WAIT_MS;
  while (context.order === null && performance.now() < deadline) await pause(POLL_MS);
  return context.order !== null;
}

/** Tells whether a command failed just when its worker got a stop signal. A death by another signal is charged to the job. */
function failedDuringStop({ signalledAt }: AttemptContext, outcome: Outcome, exitedAt: number): boolean {
  // A command that handles the signal may exit with any code, even before its frame can record the signal.
  const distanceMs = Math.abs(exitedAt - signalledAt);
  return outcome.why === 'exited' && outcome.code <= 128 && distanceMs < STOP_SPREAD_MS;
}
