import type { ClaimedJob } from '../core/job.ts';
import type { Adoption } from './attempt.ts';
import { giveBack } from './deciding.ts';
import { runAdopted } from './recovery.ts';
import { freeSlots, isKnown, launch } from './slots.ts';
import type { WorkerState } from './state.ts';

/** The claims and adoptions of a worker that failed. Each may have been committed before its answer got lost. */
export interface LostAnswers {
  /** Whether a claim or an adoption has failed, or the store was away, since this worker last looked for the jobs that it holds. */
  possible: boolean;
  /** The circumstances of each adoption that failed, by the number of the attempt. */
  readonly adoptions: Map<number, Omit<Adoption, 'seal'>>;
}

export function noLostAnswers(): LostAnswers {
  return { possible: false, adoptions: new Map() };
}

/**
 * Takes up the jobs that this worker holds without knowing it, because the answer to a claim or an adoption got lost, or because a
 * failover has lost a result. No other worker would run them, because this one is alive. Returns how many there were.
 */
export async function takeUpOwnClaims(worker: WorkerState): Promise<number> {
  const { app, id, lostAnswers, order, throttle } = worker;
  if (worker.over || (throttle.paused && order === null)) return 0;
  const unknown = (await app.store.mine(id)).filter((job) => !isKnown(worker, job));
  for (const job of unknown) await takeUp(worker, job);
  lostAnswers.adoptions.clear();
  lostAnswers.possible = false;
  return unknown.length;
}

/** Continues an adoption, or starts a claimed job. If there is no slot for the job any more, it goes back to its queue. */
async function takeUp(worker: WorkerState, job: ClaimedJob): Promise<void> {
  const adoption = worker.lostAnswers.adoptions.get(job.claim.attempt);
  if (adoption !== undefined) await runAdopted(worker, job, adoption);
  else if (freeSlots(worker) > 0) launch(worker, job, null);
  else worker.ended.push(giveBack(worker, job));
}
