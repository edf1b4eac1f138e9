import type { App } from '../actions/app.ts';
import type { Emit } from '../core/events.ts';
import type { ClaimedJob, EndReason, Seal } from '../core/job.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Settings } from '../core/settings.ts';
import type { StopOrder } from '../core/stop-order.ts';
import type { UserSettings } from '../exec/frame.ts';
import type { Lifeline } from '../exec/lifeline.ts';
import type { Target } from '../exec/processes.ts';
import type { Exit } from '../exec/start.ts';
import { newPlace, type Place, placeOfAttempt } from '../state/place.ts';
import type { SpareOutputs } from '../state/spare-outputs.ts';
import type { Settlement } from '../store/contract/claims.ts';
import { takeOver } from './adopting.ts';
import { decideSettlement, giveBack } from './deciding.ts';
import { judge } from './judging.ts';
import type { WorkerLease } from './lease.ts';
import { start } from './starting.ts';
import type { Turns } from './turns.ts';
import { waitForExit } from './waiting.ts';

/** The values of a worker that its attempts use. They may change while an attempt runs. */
export interface AttemptContext {
  readonly app: App;
  readonly settings: Settings;
  readonly userSettings: UserSettings;
  /** Shows workers in other pid namespaces that a command of this worker is alive. */
  readonly lifeline: Lifeline | null;
  /** Decides whether a command may start. Null in a store that one host uses. */
  readonly lease: WorkerLease | null;
  /** Null if output files are not used again, for example on systems that lack something for this. */
  readonly spares: SpareOutputs | null;
  readonly emit: Emit;
  readonly turns: Turns;
  /** The stop order that the worker follows, or null. */
  readonly order: StopOrder | null;
  /** When this worker got its first stop signal, by the monotonic clock. Minus infinity means never. */
  readonly signalledAt: number;
}

/** One attempt, as it is passed from step to step. */
export interface Attempt {
  readonly context: AttemptContext;
  readonly job: ClaimedJob;
  readonly place: Place;
  /** Null if this worker starts the command itself. */
  readonly adoption: Adoption | null;
  /** The reasons for which the command is to be ended. Only the first one counts. */
  readonly requests: EndReason[];
  /** Is called after each request. Does nothing until the command runs. */
  onRequest(): void;
}

/** The circumstances under which a worker takes over an attempt. */
export interface Adoption {
  /** Whether the machine was rebooted after the former worker had registered. */
  rebooted: boolean;
  /** Whether the former worker was being stopped. */
  stopping: boolean;
  /** The stored seal of the directory of all attempts. */
  seal: Seal | null;
}

/** A command that was started or taken over. It is running or has ended. */
export interface StartedCommand {
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

/** The result of judging how an attempt ended. */
export interface Verdict {
  outcome: Outcome;
  /** Whether the files of the attempt belong to another worker or are on another host, so that they must not be touched. */
  hasNoPlace?: boolean;
  /** The pids of processes that a successful command left running. */
  leftBehind?: number[];
  /** The same as in `StartedCommand`. */
  endedAt?: number | undefined;
}

/** An attempt that has ended and waits to be settled. */
export interface FinishedAttempt {
  job: ClaimedJob;
  /** The files of the attempt. Null if it has none, or if they belong to another worker or are on another host. */
  place: Place | null;
  adopted: boolean;
  /** Whether the job was claimed but is not started, because it has no slot. */
  givenBack: boolean;
  outcome: Outcome;
  settlement: Settlement;
}

/** A running attempt, started by this worker or taken over from a worker that is gone. */
export interface LiveAttempt {
  job: ClaimedJob;
  place: Place;
  adopted: boolean;
  /** Ends the command. Only the first reason counts. */
  end(reason: EndReason): void;
  /** Resolves when the attempt can be settled, to null if its claim was lost. */
  done: Promise<FinishedAttempt | null>;
}

/** Runs one attempt up to the decision about its job. The worker settles it afterwards. */
export function runAttempt(context: AttemptContext, job: ClaimedJob, adoption: Adoption | null): LiveAttempt {
  const { app } = context;
  const attempt: Attempt = {
    context,
    job,
    adoption,
    place:
      adoption === null
        ? newPlace(app.stateDirectory, app.store.epoch, job.claim.attempt)
        : placeOfAttempt(app, job.claim.attempt),
    requests: job.endReason === null ? [] : [job.endReason],
    onRequest() {},
  };
  return {
    job,
    place: attempt.place,
    adopted: adoption !== null,
    end(reason) {
      attempt.requests.push(reason);
      attempt.onRequest();
    },
    done: runSteps(attempt),
  };
}

/** Runs the steps of one attempt: start or take over, wait, judge, decide. */
async function runSteps(attempt: Attempt): Promise<FinishedAttempt | null> {
  const { turns, app } = attempt.context;
  const { clock } = app;
  if (attempt.adoption === null) {
    const mayStart = await turns.take((leave) => {
      attempt.onRequest = leave;
    });
    if (!mayStart) return giveBack(attempt.context, attempt.job);
    attempt.onRequest = () => {};
  }
  const beganAt = clock.monotonic();
  const first = attempt.adoption === null ? await start(attempt) : takeOver(attempt, attempt.adoption);
  const verdict = 'outcome' in first ? first : await judge(attempt, first, await waitForExit(attempt, first));
  if (verdict === null) return null;
  const finished = decideSettlement(attempt, verdict);
  // The duration is measured by the monotonic clock, because the wall clock may be changed. It stays unset if the age is unknown.
  const ageMs = attempt.adoption === null ? 0 : 'outcome' in first ? null : first.ageMs || null;
  if (ageMs !== null) finished.settlement.durationMs = Math.round(ageMs + clock.monotonic() - beganAt);
  return finished;
}
