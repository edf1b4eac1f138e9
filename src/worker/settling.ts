import { removeOrdinaryPlace, removePlace } from '../state/place.ts';
import type { SpareOutputs } from '../state/spare-outputs.ts';
import type { SettleAnswer } from '../store/contract/claims.ts';
import type { FinishedAttempt } from './attempt.ts';
import type { WorkerState } from './state.ts';

/** Finishes a settled attempt: removes its files, wakes other workers for its hooks, and emits the event. A lost claim only emits. */
export function conclude(worker: WorkerState, finished: FinishedAttempt, answer: SettleAnswer): void {
  const { app, emit, throttle } = worker;
  const { job, outcome, settlement } = finished;
  if (answer === 'lost') {
    emit({ type: 'claim-lost', job });
    return;
  }
  if (outcome.why !== 'never-started') throttle.resetPauses();
  clearPlace(finished, worker.spares);
  // Other workers are woken, because this one may be leaving or have too few free slots.
  if (settlement.hooks.length > 0) app.signals.wake();
  const { transition, finishedAt, error } = settlement;
  const durationMs = settlement.durationMs ?? Math.max(0, finishedAt - (job.startedAt ?? finishedAt));
  emit({ type: 'attempt-settled', job, outcome, transition, durationMs, error });
}

/** Removes the files of a settled attempt, unless they hold long output or a gate that is still needed. */
export function clearPlace(
  { job, place, outcome, settlement, adopted }: FinishedAttempt,
  spares: SpareOutputs | null,
): void {
  // The former worker of an adopted attempt may be frozen just before the start, so the gate stays.
  const needsGate = outcome.why === 'never-started' && adopted;
  const hasLongOutput = settlement.output.bytes > 0 && settlement.output.kept === null;
  if (place === null || needsGate || hasLongOutput) return;
  // Only an attempt that was split, ended or adopted can have other files than the output and the record.
  if (outcome.why === 'exited' && !job.splitOutput && !adopted)
    removeOrdinaryPlace(place, mayBeUsedAgain(settlement) ? spares : null);
  else removePlace(place);
}

/** Tells whether the output file of a settled attempt is empty, as far as known, and no known process can still write to it. */
function mayBeUsedAgain({ output, leftBehind }: FinishedAttempt['settlement']): boolean {
  return output.bytes === 0 && leftBehind.length === 0;
}
