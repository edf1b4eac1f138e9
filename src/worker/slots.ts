import type { ClaimedJob, EndReason } from '../core/job.ts';
import type { Place } from '../state/place.ts';
import {
  type Adoption,
  type AttemptContext,
  type Finished,
  type LiveAttempt,
  runAttempt,
} from './attempt.ts';

/** An attempt that ended and waits to be settled. */
export interface Ended extends Finished {
  adopted: boolean;
}

/** The attempts of one worker: those under way, and those that ended. */
export interface Slots {
  /** Under way, adopted ones included. */
  readonly running: number;
  /** Under way in slots of its own: adopted ones take none. */
  readonly own: number;
  launch(job: ClaimedJob, adopted: Adoption | null): void;
  /** Takes what ended; what cannot be settled now is put back. */
  takeEnded(): Ended[];
  putBack(ended: Ended[]): void;
  readonly waiting: number;
  /** Ends one attempt, if it is under way here. */
  end(attempt: number, reason: EndReason): void;
  endAll(reason: EndReason): void;
  places(): Place[];
}

export interface SlotEvents {
  /** An attempt is over: settle it, fill its slot. */
  onEnd(ended: Ended | null, job: ClaimedJob): void;
  /** The attempt could not be brought to its end: the worker has to give up. */
  onError(error: unknown): void;
}

export function createSlots(context: AttemptContext, events: SlotEvents): Slots {
  const live = new Map<number, LiveAttempt>();
  let ended: Ended[] = [];
  return {
    get running() {
      return live.size;
    },
    get own() {
      let own = 0;
      for (const attempt of live.values()) if (!attempt.adopted) own++;
      return own;
    },
    get waiting() {
      return ended.length;
    },
    launch(job, adopted) {
      const attempt = runAttempt(context, job, adopted);
      live.set(job.claim.attempt, attempt);
      attempt.done.then((result) => {
        live.delete(job.claim.attempt);
        const one = result === null ? null : { ...result, adopted: adopted !== null };
        if (one !== null) ended.push(one);
        events.onEnd(one, job);
      }, events.onError);
    },
    takeEnded() {
      const taken = ended;
      ended = [];
      return taken;
    },
    putBack(taken) {
      ended = [...taken, ...ended];
    },
    end: (attempt, reason) => live.get(attempt)?.end(reason),
    endAll(reason) {
      for (const attempt of live.values()) attempt.end(reason);
    },
    places: () => [...live.values()].map((attempt) => attempt.place),
  };
}
