import { removePlace } from '../state/place.ts';
import { wake } from '../state/wake.ts';
import type { SettleAnswer } from '../store/contract/claims.ts';
import type { Finished } from './attempt.ts';
import type { WorkerState } from './state.ts';

/** Does what follows a settlement: clears the attempt's directory, wakes others for its hooks, and reports it. */
export function conclude(worker: WorkerState, finished: Finished, answer: SettleAnswer): void {
  const { app, emit, pace } = worker;
  const { job, outcome, transition, settlement } = finished;
  if (answer === 'lost') {
    emit({ type: 'claim-lost', job });
    return;
  }
  if (outcome.why !== 'never-started') pace.recovered();
  clearPlace(finished);
  // This worker may be about to leave, or have fewer slots free than there are hooks: the others look now.
  if (settlement.hooks.length > 0) wake(app.stateDirectory);
  const between = settlement.finishedAt - (job.startedAt ?? settlement.finishedAt);
  const durationMs = settlement.durationMs ?? Math.max(0, between);
  emit({ type: 'attempt-settled', job, outcome, transition, durationMs });
}

/**
 * Removes the files of a settled attempt that nobody needs. Long output stays in its file. The gate that was taken for an
 * adopted attempt stays too: its worker may be frozen just before it.
 */
export function clearPlace({ place, outcome, settlement, adopted }: Finished): void {
  const gate = outcome.why === 'never-started' && adopted;
  const file = settlement.output.bytes > 0 && settlement.output.kept === null;
  if (place !== null && !gate && !file) removePlace(place);
}
