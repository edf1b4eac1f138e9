import { existsSync } from 'node:fs';
import { withStdin } from '../actions/jobs/jobs.ts';
import { settlementOf } from '../actions/jobs/settlement.ts';
import type { ClaimedJob, EndReason } from '../core/jobs/job.ts';
import { describeOutcome, mayStart, type Outcome } from '../core/rules/decide.ts';
import { signalNumber } from '../core/signals.ts';
import { pollUntil, systemClock } from '../core/time/clock.ts';
import { endProcesses, groupExists } from '../exec/kill.ts';
import { hasEnded, observeOrGate, type Sighting, untilOver } from '../exec/observe-attempt.ts';
import { NO_GROUP, processes, type Target } from '../exec/processes.ts';
import { type Exit, type ExitCode, startCommand } from '../exec/start.ts';
import {
  type AttemptFiles,
  filesOfAttempt,
  removeFiles,
  removeOrdinaryFiles,
} from '../state/attempt-files.ts';
import { collectStreams } from '../state/output.ts';
import { readRecord, recordedAt } from '../state/record.ts';
import { longTimeout, withRetries } from './loops.ts';
import type { Adoption, AttemptContext, EndedAttempt, LiveAttempt } from './state.ts';

/** A worker that has not asked the store for this part of the lease asks again before it starts a command. */
const SURE_PART = 1 / 3;
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
const NO_OUTPUT = { bytes: 0, truncated: false, kept: null, tail: '' };

/** One attempt, as it is passed from step to step. */
interface RunningAttempt extends Omit<LiveAttempt, 'adopted' | 'done'> {
  readonly context: AttemptContext;
  /** Null if this worker starts the command itself. */
  readonly adoption: Adoption | null;
  /** A time at which the worker certainly held the claim, by the monotonic clock. */
  readonly heldAt: number;
  /** The reasons for which the command is to be ended. Only the first one counts. */
  readonly requests: EndReason[];
  /** Is called after each request. Does nothing until the attempt waits for a slot or its command runs. */
  onRequest(): void;
}

/** A command that was started or taken over. It is running or has ended. */
interface StartedCommand {
  target: Target;
  /** How long the command had run when this worker started or adopted it. 0 if that is unknown. */
  ageMs: number;
  /** Resolves when the command has ended, to null if it left no exit code. */
  exit: Promise<Exit | null>;
  /** When the command ended, by the clock of the store, if that was before it was taken over. */
  endedAt?: number | undefined;
  /** Whether the command ended before it was taken over, and its former worker was being stopped. */
  stopped?: boolean;
}

/** The result of ending an attempt. `had-ended` means that its command ended by itself before the first signal. */
type Ending = 'ended' | 'had-ended' | 'claim-lost';

/** The observed end of a command. */
interface ObservedExit {
  /** Null if the command left no exit code. */
  exit: Exit | null;
  /** How long the command ran, as far as known. */
  ranMs: number;
  /** Whether this worker had got a stop signal a short time before it noticed the end. */
  signalledBefore: boolean;
  /** The result of ending the command, if that was requested. */
  ending: Promise<Ending> | undefined;
}

/** The result of judging how an attempt ended. */
interface Verdict {
  outcome: Outcome;
  /** Whether the files of the attempt belong to another worker or are on another host, so that they must not be touched. */
  hasNoFiles?: boolean;
  /** The pids of processes that a successful command left running. */
  leftBehind?: number[];
  /** The same as in `StartedCommand`. */
  endedAt?: number | undefined;
}

/**
 * Runs one attempt up to the decision about its job. The worker settles it afterwards. `heldAt` is the time before the store was asked
 * for the job.
 */
export function runAttempt(
  context: AttemptContext,
  job: ClaimedJob,
  adoption: Adoption | null,
  heldAt = context.app.clock.monotonic(),
): LiveAttempt {
  const attempt: RunningAttempt = {
    context,
    job,
    adoption,
    heldAt,
    files: filesOfAttempt(context.app, job.claim.attempt),
    requests: job.endReason === null ? [] : [job.endReason],
    onRequest() {},
    end(reason) {
      attempt.requests.push(reason);
      attempt.onRequest();
    },
  };
  return { ...attempt, adopted: adoption !== null, done: runSteps(attempt) };
}

/** Runs the steps of one attempt: wait for a slot, start or take over, wait for the end, judge, decide. */
async function runSteps(attempt: RunningAttempt): Promise<EndedAttempt | null> {
  const { turns, app } = attempt.context;
  if (attempt.adoption === null) {
    const mayStart = await turns.take((leave) => {
      attempt.onRequest = leave;
    });
    if (!mayStart) return giveBack(attempt.context, attempt.job);
    attempt.onRequest = () => {};
  }
  const beganAt = app.clock.monotonic();
  const first = attempt.adoption === null ? await start(attempt) : takeOver(attempt, attempt.adoption);
  if (first === null) return null;
  const exit = 'outcome' in first ? null : await waitForExit(attempt, first);
  const ranMs = app.clock.monotonic() - beganAt;
  const verdict = 'outcome' in first ? first : await judge(attempt, first, exit!);
  if (verdict === null) return null;
  const finished = decideSettlement(attempt, verdict);
  // The duration is measured by the monotonic clock, because the wall clock may be changed. It stays unset if the age is unknown.
  const ageMs = attempt.adoption === null ? 0 : 'outcome' in first ? null : first.ageMs || null;
  if (ageMs !== null) finished.settlement.durationMs = Math.round(ageMs + ranMs);
  return finished;
}

/** Starts the command of an attempt. Returns a verdict if the command cannot or must not be started, and null if the claim was lost. */
async function start(attempt: RunningAttempt): Promise<StartedCommand | Verdict | null> {
  const { context, job, files } = attempt;
  if (!mayStart(job)) {
    const message = `not started again because the job is at-most-once; first failure: ${job.lastError ?? 'unknown error'}`;
    return { outcome: { why: 'spawn-error', message } };
  }
  const jobWithStdin = await withRetries(() => withStdin(context.app, job));
  const since = processes.earliestStart();
  const { userSettings, lifeline, lease } = context;
  let isLost = false;
  const result = await startCommand(files, jobWithStdin, userSettings, {
    lifeline,
    async mayStart() {
      const claim = await checkClaim(attempt);
      isLost = claim === 'lost';
      return claim === 'held' && (lease?.mayStart() ?? true);
    },
  });
  switch (result.kind) {
    case 'gate-lost':
      return { outcome: { why: 'never-started' }, hasNoFiles: true };
    case 'no-room':
    case 'too-late':
      if (isLost) return null;
      return { outcome: { why: 'never-started' } };
    case 'refused':
      return { outcome: { why: 'spawn-error', message: result.message } };
    case 'started': {
      context.emit({ type: 'attempt-started', job, pid: result.pid });
      const target = { group: result.pid, cookie: files.cookie, since };
      return { target, ageMs: 0, exit: result.exit };
    }
  }
}

/**
 * Tells whether this worker still holds the claim. Asks the store only if the worker may have been frozen since it last asked: another
 * worker may have put the job back since, and its gate may be gone. If the store does not answer, nothing is started.
 */
async function checkClaim({ context, job, heldAt }: RunningAttempt): Promise<'held' | 'lost' | 'unknown'> {
  const { app, settings } = context;
  // If the machine was suspended, this clock stood still, but so did all observers of this host. `lease` covers those of other hosts.
  const isSure = (since: number): boolean => app.clock.monotonic() - since <= settings.lease * SURE_PART; // fault-control: sure-claim
  try {
    for (let since = heldAt; !isSure(since); ) {
      since = app.clock.monotonic();
      const held = await app.store.mine(job.workerId!);
      const isHeld = held.some(
        ({ claim }) => claim.attempt === job.claim.attempt && claim.token === job.claim.token,
      );
      if (!isHeld) return 'lost';
    }
    return 'held';
  } catch {
    return 'unknown';
  }
}

/** Takes over a command whose worker is gone. Returns a verdict if the command never started, or if that is unknown. */
function takeOver({ context, job, files }: RunningAttempt, adoption: Adoption): StartedCommand | Verdict {
  // The files and processes of the attempt are on another host, so a missing record proves nothing here. But if the command was to be
  // ended, for example by a cancel, that counts as the reason for its end.
  if (job.otherHost !== null) return { outcome: { why: job.endReason ?? 'lost' }, hasNoFiles: true };
  const { cookie } = files;
  const seen = observeOrGate(files);
  switch (seen.kind) {
    case 'never-started':
      return { outcome: { why: adoption.isElsewhere || job.otherBoot ? 'lost' : 'never-started' } };
    case 'alive': {
      const exit = untilOver(files).then(codeAtEnd); // fault-control: adopt-alive
      const since = Number(processes.startTime(seen.pid) ?? 0) || 0;
      const target = { group: seen.pid, cookie, since };
      return { target, ageMs: processes.ageMs(seen.pid) ?? 0, exit };
    }
    case 'unseen':
      return { target: { group: NO_GROUP, cookie }, ageMs: 0, exit: untilOver(files).then(codeAtEnd) };
    case 'ended': {
      const command = { target: { group: seen.pid, cookie }, ageMs: 0, exit: Promise.resolve(seen) }; // fault-control: adopt-ended
      const at = recordedAt(files);
      // The clock of the host, by which files have their times, may differ from the clock of the store.
      const endedAt = at === undefined ? at : context.app.clock.now() - Math.max(0, systemClock.now() - at);
      return { ...command, stopped: adoption.stopping, endedAt };
    }
    case 'lost':
      return { target: { group: seen.pid ?? NO_GROUP, cookie }, ageMs: 0, exit: Promise.resolve(null) };
  }
}

function codeAtEnd(end: Sighting): ExitCode | null {
  return end.kind === 'ended' ? end : null;
}

/** Waits until a command has ended. Ends it on request and at its timeout. */
async function waitForExit(attempt: RunningAttempt, command: StartedCommand): Promise<ObservedExit> {
  const { context, job, files, requests } = attempt;
  const { target } = command;
  let exitNoticed = false;
  const isOver = (): boolean => exitNoticed || hasEnded(files, target.group);
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
      ending ??= endAttempt(attempt, target, reason, isOver).catch(giveUp);
  };
  attempt.onRequest();
  const { timeoutMs } = job;
  const cancelTimeout =
    timeoutMs === null
      ? null
      : longTimeout(() => attempt.end('timeout'), Math.max(0, timeoutMs - command.ageMs));
  const { clock } = context.app;
  const waitedSince = clock.monotonic();
  const exit = await Promise.race([command.exit, endingError.promise]);
  const ranMs = command.ageMs + clock.monotonic() - waitedSince;
  const signalledBefore = context.recentSignals > 0;
  exitNoticed = true;
  cancelTimeout?.();
  return { exit, ranMs, signalledBefore, ending };
}

/** Ends a running command for a reason, unless it has ended by itself. */
async function endAttempt(
  { context, job }: RunningAttempt,
  target: Target,
  reason: EndReason,
  hasEnded: () => boolean,
): Promise<Ending> {
  if (hasEnded()) return 'had-ended'; // fault-control: ended-before
  // The reason is committed before the first signal, so that any worker can settle this attempt correctly after a crash.
  if (!(await withRetries(() => context.app.store.setEndReason(job.claim, reason)))) return 'claim-lost';
  // The first signal is the one of the cancel, or SIGTERM.
  const isCancel = reason === 'cancelled';
  const wishes = isCancel ? await withRetries(() => context.app.store.wishes(job.workerId!)) : [];
  const signal = wishes.find(({ claim }) => claim.attempt === job.claim.attempt)?.signal ?? 'SIGTERM';
  if (hasEnded()) return 'had-ended'; // fault-control: ended-marked
  context.emit({ type: 'attempt-ending', job, reason });
  await endProcesses(target, context.settings['kill-grace'], signal);
  return 'ended';
}

/** Finds out why an attempt ended, and ends the processes that a failed command left. Returns null if the claim was lost. */
async function judge(
  attempt: RunningAttempt,
  command: StartedCommand,
  observed: ObservedExit,
): Promise<Verdict | null> {
  const { exit } = observed;
  const { target, endedAt } = command;
  if (exit === 'gate-lost') return { outcome: { why: 'never-started' }, hasNoFiles: true };
  if (exit === 'no-room') return { outcome: { why: 'never-started' } };
  const result = (await observed.ending) ?? 'had-ended';
  if (result === 'claim-lost') return null;
  if (result === 'ended') {
    const reason = attempt.requests[0]!;
    // A command that exits with 0 on a stop is not run again.
    const succeeded = reason === 'stopped' && exit?.code === 0; // fault-control: success-on-stop
    return { outcome: succeeded ? { why: 'exited', code: 0 } : { why: reason } };
  }
  if (exit?.code === 0) {
    const leftBehind = groupExists(target.group) ? processes.find(target).map((one) => one.pid) : [];
    return { outcome: { why: 'exited', code: 0 }, leftBehind, endedAt };
  }
  // The processes that are left are ended while the worker waits for a stop.
  const [outcome] = await Promise.all([
    outcomeOfFailure(attempt, command, exit, observed),
    endProcesses(target, attempt.context.settings['kill-grace']),
  ]);
  return { outcome, endedAt };
}

/** Returns the outcome of a command that failed and that this worker did not end. A stop signal is not charged if the worker is stopping. */
async function outcomeOfFailure(
  { context, job, files }: RunningAttempt,
  { stopped = false }: StartedCommand,
  exit: ExitCode | null,
  { ranMs, signalledBefore }: ObservedExit,
): Promise<Outcome> {
  // The command may have ended because of a stop signal.
  const signalled = exit === null || exit.signalled || STOP_CODES.has(exit.code);
  // A former worker may have committed a reason, signalled the command and died.
  if (signalled && job.endReason !== null) return { why: job.endReason };
  // The guard of this host may have stopped the command, which is not the fault of the job.
  if (context.app.store.manyHosts === true && existsSync(files.guarded))
    return { why: 'stopped', byGuard: true };
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

/** Waits until the condition holds, at most for this time. On a busy machine it waits longer, because each step waits for the processor. */
async function comesSoon(limitMs: number, condition: () => boolean): Promise<boolean> {
  let pollsLeft = Math.ceil(limitMs / POLL_MS);
  await pollUntil(() => condition() || pollsLeft-- <= 0, POLL_MS);
  return condition();
}

/**
 * Decides what becomes of the job, and collects the values to store. If the attempt lost its gate to another worker, that
 * worker has the claim, so the store refuses the settlement. If the store accepts it nevertheless, the files were left by
 * an earlier attempt with the same number, and the job runs again with another number.
 */
function decideSettlement(
  attempt: Pick<RunningAttempt, 'context' | 'job' | 'adoption'> & { files: AttemptFiles | null },
  verdict: Verdict,
): EndedAttempt {
  const { job } = attempt;
  const { app, settings } = attempt.context;
  const { outcome, leftBehind = [], endedAt = Number.POSITIVE_INFINITY } = verdict;
  const files = verdict.hasNoFiles ? null : attempt.files;
  const finishedAt = Math.min(app.clock.now(), endedAt);
  const { tail, ...output } =
    files === null ? NO_OUTPUT : collectStreams(files, job.splitOutput, settings['output-limit']);
  const error = describeOutcome(outcome, job.timeoutMs, tail);
  const ended = { error, finishedAt, output, leftBehind };
  const context = { settings, random: app.random, newId: app.newId };
  const settlement = settlementOf(job, outcome, ended, context);
  return { job, files, adopted: attempt.adoption !== null, givenBack: false, outcome, settlement };
}

/** Returns the end of an attempt that was claimed and is not started. Its job goes back to the queue, uncharged. */
export function giveBack(context: AttemptContext, job: ClaimedJob): EndedAttempt {
  const attempt = { context, job, files: null, adoption: null };
  return { ...decideSettlement(attempt, { outcome: { why: 'never-started' } }), givenBack: true };
}

/** Removes the files of a settled attempt, unless they hold long output or a gate that is still needed. */
export function clearFiles({ job, files, outcome, settlement, adopted }: EndedAttempt): void {
  const hasLongOutput = settlement.output.bytes > 0 && settlement.output.kept === null;
  if (files === null || hasLongOutput) return;
  // The former worker of an adopted attempt may be frozen just before the start, so the gate stays.
  if (adopted && (outcome.why === 'never-started' || readRecord(files)?.kind === 'gated')) return;
  // Only an attempt that was split, ended or adopted can have other files than the output and the record.
  if (outcome.why === 'exited' && !job.splitOutput && !adopted) removeOrdinaryFiles(files);
  else removeFiles(files);
}
