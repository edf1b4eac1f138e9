import type { App } from '../actions/app.ts';
import type { Transition } from '../core/decide.ts';
import type { Emit } from '../core/events.ts';
import type { ClaimedJob, EndReason, Seal } from '../core/job.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Settings } from '../core/settings.ts';
import type { StopOrder } from '../core/stop-order.ts';
import type { UserLimits } from '../exec/frame.ts';
import type { Target } from '../exec/kill.ts';
import type { Lifeline } from '../exec/lifeline.ts';
import { type Place, placeOf } from '../exec/place.ts';
import type { ExitCode } from '../exec/start.ts';
import type { Settlement } from '../store/contract/claims.ts';
import { takeOver } from './adopting.ts';
import { finish } from './deciding.ts';
import { judge } from './judging.ts';
import { start } from './starting.ts';
import { waitForExit } from './waiting.ts';

/** What an attempt needs of the worker that runs it. The values may change while it runs. */
export interface AttemptContext {
  readonly app: App;
  readonly settings: Settings;
  readonly user: UserLimits;
  /** Shows other pid namespaces that a command of this worker lives. */
  readonly lifeline: Lifeline | null;
  readonly emit: Emit;
  /** The stop order that the worker follows. Null: none. */
  readonly order: StopOrder | null;
  /** When this worker first got a stop signal, by the monotonic clock; minus infinity: never. */
  readonly signalledAt: number;
}

/** One attempt on its way through the steps. */
export interface Attempt {
  readonly context: AttemptContext;
  readonly job: ClaimedJob;
  readonly place: Place;
  /** Null: this worker starts the command itself. */
  readonly adoption: Adoption | null;
  /** The reasons for which the command is to be ended. The first one counts. */
  readonly requests: EndReason[];
  /** Called after each request, once the command runs. */
  onRequest(): void;
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

/** A command that runs (or ran), and how to learn of its end. */
export interface Running {
  target: Target;
  ageMs: number;
  /** Null: it left no code. */
  exit: Promise<ExitCode | null | 'gate-lost' | 'no-room'>;
  /** When it ended, if that was before anybody watched. */
  endedAt?: number | undefined;
  /** It ended while its former worker was being stopped. */
  stopped?: boolean;
}

/** How an attempt ended. */
export interface Verdict {
  outcome: Outcome;
  /** Another worker has the place of the attempt: nothing in it belongs to this one. */
  gateLost?: boolean;
  leftBehind?: number[];
  endedAt?: number | undefined;
}

/** An attempt that has ended and waits to be settled. */
export interface Finished {
  job: ClaimedJob;
  /** Null: it is another's. */
  place: Place | null;
  adopted: boolean;
  outcome: Outcome;
  transition: Transition;
  settlement: Settlement;
}

/** One attempt under way: a command of ours, or one taken over from a worker that is gone. */
export interface LiveAttempt {
  place: Place;
  adopted: boolean;
  /** Ends the command for the reason, once. */
  end(reason: EndReason): void;
  /** Null: the claim was lost, there is nothing to settle. */
  done: Promise<Finished | null>;
}

/** Runs one attempt up to the decision about it. The worker settles it. */
export function runAttempt(context: AttemptContext, job: ClaimedJob, adoption: Adoption | null): LiveAttempt {
  const attempt: Attempt = {
    context,
    job,
    adoption,
    place: placeOf(context.app.stateDirectory, context.app.store.epoch, job.claim.attempt),
    requests: job.endReason === null ? [] : [job.endReason],
    onRequest() {},
  };
  return {
    place: attempt.place,
    adopted: adoption !== null,
    end(reason) {
      attempt.requests.push(reason);
      attempt.onRequest();
    },
    done: follow(attempt),
  };
}

/** Takes the steps of one attempt: start or take over, wait, judge, decide. */
async function follow(attempt: Attempt): Promise<Finished | null> {
  const { clock } = attempt.context.app;
  const since = clock.monotonic();
  const begun = attempt.adoption === null ? await start(attempt) : takeOver(attempt, attempt.adoption);
  const verdict = 'outcome' in begun ? begun : await judge(attempt, begun, await waitForExit(attempt, begun));
  if (verdict === null) return null;
  const finished = finish(attempt, verdict);
  // By the monotonic clock: the wall clock may be set while the command runs. The age of an adopted one may be unknown.
  const ageMs = attempt.adoption === null ? 0 : 'outcome' in begun ? null : begun.ageMs || null;
  if (ageMs !== null) finished.settlement.durationMs = Math.round(ageMs + clock.monotonic() - since);
  return finished;
}
