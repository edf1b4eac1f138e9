import type { App } from '../actions/app.ts';
import { withStdin } from '../actions/jobs.ts';
import { decide, mayStart, policyOf, type Transition } from '../core/decide.ts';
import type { Emit } from '../core/events.ts';
import { hooksAfter } from '../core/hooks.ts';
import type { ClaimedJob, EndReason, Seal } from '../core/job.ts';
import { describeOutcome, exitCodeOf, lastNonBlankLine, type Outcome } from '../core/outcome.ts';
import type { Settings } from '../core/settings.ts';
import { hasEnded, type Sighting, sight, untilOver } from '../exec/adopt.ts';
import type { UserLimits } from '../exec/frame.ts';
import { endProcesses, groupExists, look } from '../exec/kill.ts';
import type { Lifeline } from '../exec/lifeline.ts';
import { processes } from '../exec/processes.ts';
import { type Exit, type ExitCode, startCommand } from '../exec/start.ts';
import { homeDirectory } from '../files/home.ts';
import { type Place, placeOf, removePlace } from '../state/place.ts';
import { recordedAt } from '../state/record.ts';
import { isSealed } from '../state/seal.ts';
import { collectStreams } from '../state/split-output.ts';
import type { Settlement } from '../store/contract/claims.ts';
import { type Ending, endAttempt, failedInStop, outcomeOf, outcomeOfEnding } from './ending.ts';
import { patiently } from './patience.ts';
import { longTimeout } from './timer.ts';

export interface AttemptContext {
  app: App;
  settings(): Settings;
  user: UserLimits;
  /** What tells other pid namespaces that a command of ours lives. */
  lifeline: Lifeline | null;
  emit: Emit;
  isStopping(): boolean;
  /** When this worker first got a stop signal, by the monotonic clock; minus infinity: never. */
  signalledAt(): number;
}

/** One attempt under way: a command of ours, or one taken over from a worker that is gone. */
export interface LiveAttempt {
  job: ClaimedJob;
  place: Place;
  adopted: boolean;
  /** Ends the command for the reason, once. */
  end(reason: EndReason): void;
  /** Null: the claim was lost, there is nothing to settle. */
  done: Promise<Finished | null>;
}

export interface Finished {
  job: ClaimedJob;
  /** Null: it is another's. */
  place: Place | null;
  outcome: Outcome;
  transition: Transition;
  settlement: Settlement;
}

/** How an attempt came to a worker that did not start it. */
export interface Adoption {
  /** Its machine has been restarted since. */
  rebooted: boolean;
  /** Its worker was being stopped when it was last heard of. */
  stopping: boolean;
  /** The seal of the directory of all attempts, as the store holds it. */
  seal: Seal | null;
}

const NO_OUTPUT = { bytes: 0, truncated: false, kept: null, tail: '' };

/** No process has it, so nothing can be signalled by it. */
const NO_GROUP = -1;

/** A command that runs (or ran), and how to learn of its end. Null as exit: it left no code. */
interface Running {
  group: number;
  ageMs: number;
  /** No process of it started before this, in the kernel's own count. */
  since: number;
  exit: Promise<ExitCode | null | 'gate-lost' | 'no-room'>;
  /** When it ended, if that was before anybody watched. */
  endedAt?: number | undefined;
  /** It ended while its former worker was being stopped. */
  stopped?: boolean;
}

type Begun = { running: Running } | { outcome: Outcome } | 'gate-lost';

/** begin -> watch -> clean up -> collect output -> decide: the straight line of one attempt. Settling is the worker's. */
export function runAttempt(context: AttemptContext, job: ClaimedJob, adopted: Adoption | null): LiveAttempt {
  const place = placeOf(context.app.stateDirectory, context.app.store.epoch, job.claim.attempt);
  const requests: EndReason[] = job.endReason === null ? [] : [job.endReason];
  const { clock } = context.app;
  const since = clock.monotonic();
  /** How long it had run by then; null: unknown. */
  let ageMs = adopted === null ? 0 : null;
  let act: (() => void) | null = null;
  const course = async (): Promise<Finished | null> => {
    const begun = adopted === null ? await begin(context, job, place) : takeOver(job, place, adopted);
    if (begun === 'gate-lost') return neverStarted(context, job);
    if ('outcome' in begun) return finish(context, job, place, begun.outcome, []);
    ageMs ??= begun.running.ageMs || null;
    return watch(context, job, place, begun.running, requests, (start) => {
      act = start;
    });
  };
  return {
    job,
    place,
    adopted: adopted !== null,
    end(reason) {
      requests.push(reason);
      act?.();
    },
    done: course().then((finished) => {
      // By the monotonic clock: the wall clock may be set while the command runs.
      if (finished !== null && ageMs !== null)
        finished.settlement.durationMs = Math.round(ageMs + clock.monotonic() - since);
      return finished;
    }),
  };
}

/**
 * Removes what no one needs of a settled attempt. Long output stays in its file. The gate that was taken for an adopted
 * attempt stays too: its worker may be frozen just before it.
 */
export function clearPlace({ place, outcome, settlement }: Finished, adopted: boolean): void {
  const gate = outcome.why === 'never-started' && adopted;
  const file = settlement.output.bytes > 0 && settlement.output.kept === null;
  if (place !== null && !gate && !file) removePlace(place);
}

async function begin(context: AttemptContext, job: ClaimedJob, place: Place): Promise<Begun> {
  if (!mayStart(job)) {
    const message = `not started again because the job is at-most-once; first failure: ${job.lastError ?? 'unknown error'}`;
    return { outcome: { why: 'spawn-error', message } };
  }
  const whole = await patiently(() => withStdin(context.app, job));
  const since = processes.now();
  const start = await startCommand(place, whole, context.user, context.lifeline);
  switch (start.kind) {
    case 'gate-lost':
      return 'gate-lost';
    case 'no-room':
      return { outcome: { why: 'never-started' } };
    case 'refused':
      return { outcome: { why: 'spawn-error', message: start.message } };
    case 'started':
      context.emit({ type: 'attempt-started', job, pid: start.pid });
      return { running: { group: start.pid, ageMs: 0, since, exit: start.exit.then(codeOf) } };
  }
}

function codeOf(exit: Exit): ExitCode | 'gate-lost' | 'no-room' {
  return exit.kind === 'code' ? exit : exit.kind;
}

/**
 * An adopted command is nobody's child here: it is watched from outside, and its record tells how it ended. After a
 * restart of the machine, or when somebody emptied the directory of all attempts, a missing record proves nothing.
 */
function takeOver(job: ClaimedJob, place: Place, { rebooted, stopping, seal }: Adoption): Begun {
  const seen = sight(place);
  switch (seen.kind) {
    case 'never-started': {
      const unknown = rebooted || !isSealed(place, job.claim.attempt, seal);
      return { outcome: { why: unknown ? 'lost' : 'never-started' } };
    }
    case 'alive': {
      const exit = untilOver(place).then(codeAtEnd);
      const since = Number(processes.startTime(seen.pid) ?? 0) || 0;
      return { running: { group: seen.pid, ageMs: processes.ageMs(seen.pid) ?? 0, since, exit } };
    }
    case 'unseen':
      return {
        running: { group: NO_GROUP, ageMs: 0, since: 0, exit: untilOver(place).then(codeAtEnd) },
      };
    case 'ended': {
      const running = { group: seen.pid, ageMs: 0, since: 0, exit: Promise.resolve(seen), stopped: stopping };
      return { running: { ...running, endedAt: recordedAt(place) } };
    }
    case 'lost':
      return { running: { group: seen.pid ?? NO_GROUP, ageMs: 0, since: 0, exit: Promise.resolve(null) } };
  }
}

function codeAtEnd(end: Sighting): ExitCode | null {
  return end.kind === 'ended' ? end : null;
}

async function watch(
  context: AttemptContext,
  job: ClaimedJob,
  place: Place,
  running: Running,
  requests: EndReason[],
  onRequest: (act: () => void) => void,
): Promise<Finished | null> {
  const target = { group: running.group, cookie: place.cookie, since: running.since };
  let over = false;
  const isOver = (): boolean => over || hasEnded(place, running.group);
  const asked: { ending?: Promise<Ending> } = {};
  // What cannot be committed is the worker's trouble at once, not only when the command ends.
  const trouble = Promise.withResolvers<never>();
  trouble.promise.catch(() => {});
  const giveUp = (error: unknown): Ending => {
    trouble.reject(error);
    return 'claim-lost';
  };
  const act = (): void => {
    const reason = requests[0];
    if (reason !== undefined && !over)
      asked.ending ??= endAttempt(context, job, target, reason, isOver).catch(giveUp);
  };
  onRequest(act);
  act();
  const cancelDeadline = atDeadline(job, running.ageMs, () => {
    requests.push('timeout');
    act();
  });
  const exit = await Promise.race([running.exit, trouble.promise]);
  const exitAt = context.app.clock.monotonic();
  over = true;
  cancelDeadline();
  if (exit === 'gate-lost') return neverStarted(context, job);
  if (exit === 'no-room') return finish(context, job, place, { why: 'never-started' }, []);
  const how = (await asked.ending) ?? 'had-ended';
  if (how === 'claim-lost') return null;
  if (how === 'ended') return finish(context, job, place, outcomeOfEnding(requests[0]!, exit), []);
  const outcome = await outcomeOf(context, job, exit, running.stopped ?? false);
  if (outcome.why === 'exited' && outcome.code === 0) {
    const leftBehind = groupExists(running.group) ? look(target).map((one) => one.pid) : [];
    return finish(context, job, place, outcome, leftBehind, running.endedAt);
  }
  await endProcesses(target, context.settings()['kill-grace']);
  const why = failedInStop(context, outcome, exitAt) ? ({ why: 'stopped' } as const) : outcome;
  return finish(context, job, place, why, [], running.endedAt);
}

function atDeadline(job: ClaimedJob, ageMs: number, callback: () => void): () => void {
  if (job.timeoutMs === null) return () => {};
  return longTimeout(callback, Math.max(0, job.timeoutMs - ageMs));
}

/**
 * Another has the place. Whoever took it took the claim first, so this is refused by its token; if not, the number was used
 * before, and the job is due for another.
 */
function neverStarted(context: AttemptContext, job: ClaimedJob): Finished {
  return finish(context, job, null, { why: 'never-started' }, []);
}

function finish(
  context: AttemptContext,
  job: ClaimedJob,
  place: Place | null,
  outcome: Outcome,
  leftBehind: number[],
  endedAt?: number,
): Finished {
  const settings = context.settings();
  const now = Math.min(context.app.clock.now(), endedAt ?? Number.POSITIVE_INFINITY);
  const { tail, ...output } =
    place === null ? NO_OUTPUT : collectStreams(place, job.splitOutput, settings['output-limit']);
  const transition = decide(job, outcome, policyOf(settings), now, context.app.random);
  const error = describeOutcome(outcome, job.timeoutMs, lastNonBlankLine(tail));
  const settlement: Settlement = {
    claim: job.claim,
    transition,
    why: outcome.why,
    exitCode: exitCodeOf(outcome),
    error,
    finishedAt: now,
    output,
    leftBehind,
    ...hooksAfter(
      { job, transition, exitCode: exitCodeOf(outcome), error },
      { settings, newId: () => context.app.newId(now), directory: homeDirectory },
    ),
  };
  return { job, place, outcome, transition, settlement };
}
