import { removePlace } from '../state/place.ts';
import type { SettleAnswer } from '../store/contract/claims.ts';
import type { FinishedAttempt } from './attempt.ts';
import type { WorkerState } from './state.ts';

/** Removes the directory of a settled attempt, wakes workers for its hooks, and emits an event. Only emits if the claim was lost. */
export function conclude(worker: WorkerState, finished: FinishedAttempt, answer: SettleAnswer): void {
  const { app, emit, throttle } = worker;
  const { job, outcome, settlement } = finished;
  if (answer === 'lost') {
    emit({ type: 'claim-lost', job });
    return;
  }
  if (outcome.why !== 'never-started') throttle.resetPauses();
  clearPlace(finished);
  // Other workers are woken, because this one may be leaving or have too few free slots.
  if (settlement.hooks.length > 0) app.signals.wake();
  const { transition, finishedAt, error } = settlement;
  const durationMs = settlement.durationMs ?? Math.max(0, finishedAt - (job.startedAt ?? finishedAt));
  emit({ type: 'attempt-settled', job, outcome, transition, durationMs, error });
}

/** Removes the directory of a settled attempt, unless it holds long output or a gate that is still needed. */
export function clearPlace({ place, outcome, settlement, adopted }: FinishedAttempt): void {
  // The former worker of an adopted attempt may be frozen just before the start, so the gate stays.
  const needsGate = outcome.why === 'never-started' && adopted;
  const hasLongOutput = settlement.output.bytes > 0 && settlement.output.kept === null;
  if (place !== null && !needsGate && !hasLongOutput) removePlace(place);
}
