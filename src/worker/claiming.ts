import type { App } from '../actions/app.ts';
import type { Emit } from '../core/events.ts';
import { tellChange, wake } from '../state/wake.ts';
import type { ClaimResult, SettleAnswer } from '../store/contract/claims.ts';
import { clearPlace } from './attempt.ts';
import type { Pace } from './pace.ts';
import type { Ended, Slots } from './slots.ts';
import { longTimeout } from './timer.ts';

export interface Claimant {
  app: App;
  emit: Emit;
  workerId: string;
  /** Null: every queue. */
  queues: string[] | null;
  slots: Slots;
  pace: Pace;
  freeSlots(): number;
  isOver(): boolean;
  /** Called when the next job is due. */
  onDue(): void;
}

export interface Claiming {
  /** Settles what ended and fills the free slots, until there is neither. */
  settleAndFill(): Promise<void>;
  stop(): void;
}

export function createClaiming(claimant: Claimant): Claiming {
  const { app, emit, workerId, queues, slots, pace, freeSlots, isOver, onDue } = claimant;
  let dueTimer: () => void = () => {};

  const settleAndFill = async (): Promise<void> => {
    while (!isOver()) {
      const settling = slots.takeEnded();
      if (settling.length === 0 && !(freeSlots() > 0 && (await somethingIsDue()))) return;
      const result = await claim(settling);
      for (const [i, answer] of result.settled.entries()) conclude(settling[i]!, answer);
      for (const job of result.jobs) slots.launch(job, null);
      if (settling.length === 0 && result.jobs.length === 0) return;
      tellChange(app.stateDirectory);
      if (result.unblocked || (result.limited && result.jobs.length < settling.length))
        wake(app.stateDirectory);
    }
  };

  const claim = async (settling: Ended[]): Promise<ClaimResult> => {
    // Asked again: an order to stop may have come meanwhile.
    const limit = freeSlots();
    const settle = settling.map((one) => one.settlement);
    try {
      return await app.store.claim({ workerId, limit, queues, settle }, app.clock.now());
    } catch (error) {
      slots.putBack(settling);
      throw error;
    }
  };

  const somethingIsDue = async (): Promise<boolean> => {
    const now = app.clock.now();
    const due = await app.store.nextDue(queues, now);
    dueTimer();
    if (due !== null && due > now) dueTimer = longTimeout(onDue, due - now);
    return due !== null && due <= now;
  };

  const conclude = (ended: Ended, answer: SettleAnswer): void => {
    const { job, outcome, transition, settlement } = ended;
    if (answer === 'lost') {
      emit({ type: 'claim-lost', job });
      return;
    }
    if (outcome.why !== 'never-started') pace.recovered();
    clearPlace(ended, ended.adopted);
    // This worker may be about to leave, or have fewer slots free than there are hooks: the others look now.
    if (settlement.hooks.length > 0) wake(app.stateDirectory);
    const between = settlement.finishedAt - (job.startedAt ?? settlement.finishedAt);
    const durationMs = settlement.durationMs ?? Math.max(0, between);
    emit({ type: 'attempt-settled', job, outcome, transition, durationMs });
  };

  return { settleAndFill, stop: () => dueTimer() };
}
