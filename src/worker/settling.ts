import { removePlace } from '../state/place.ts';
import { wake } from '../state/wake.ts';
import type { SettleAnswer } from '../store/contract/claims.ts';
import type { Finished } from './attempt.ts';
import type { WorkerState } from './state.ts';

/** Finishes a settled attempt: removes its directory, wakes other workers for its hooks, and emits the event. */
export function conclude(worker: WorkerState, finished: Finished, answer: SettleAnswer): void {
  const { app, emit, pace } = worker;
  const { job, outcome, transition, settlement } = finished;
  if (answer === 'lost') {
    emit({ type: 'claim-lost', job });
    return;
  }
  if (outcome.why !== 'never-started') pace.recovered();
  clearPlace(finished);
  // Other workers look for the hooks, because this one may be leaving or have too few free slots.
  if (settlement.hooks.length > 0) wake(app.stateDirectory);
  const between = settlement.finishedAt - (job.startedAt ?? settlement.finishedAt);
  const durationMs = settlement.durationMs ?? Math.max(0, between);
  emit({ type: 'attempt-settled', job, outcome, transition, durationMs, error: settlement.error });
}

/**
 * Removes the directory of a settled attempt, unless it is still needed. Long output stays in its file. The gate of an adopted
 * attempt that never started stays too, because its former worker may be frozen just before the start.
 */
export function clearPlace({ place, outcome, settlement, adopted }: Finished): void {
  const gate = outcome.why === 'never-started' && adopted;
  const file = settlement.output.bytes > 0 && settlement.output.kept === null;
  if (place !== null && !gate && !file) removePlace(place);
}
