import type { JobTotals, PrunedState, Retention } from '../../core/rules/retention.ts';

/** Removes old jobs and idempotency keys, in batches so small that no other writer waits long. */
export interface RetentionStore {
  /**
   * Removes a batch of the jobs that ended in this state and that `keep` does not retain, with their attempts, oldest end first.
   * Writes nothing if there is nothing to remove. The cost depends on what is removed, not on what stays.
   */
  prune(state: PrunedState, keep: Retention, now: number): Promise<PruneResult>;
  /** Returns what `prune` would remove in total. */
  prunable(state: PrunedState, keep: Retention, now: number): Promise<JobTotals>;
  /** Removes a batch of the idempotency keys that are older than KEY_KEPT_MS. Returns how many were removed. */
  forgetKeys(now: number): Promise<number>;
}

export interface PruneResult extends JobTotals {
  /** The numbers of the removed attempts whose output is in a file. */
  attempts: number[];
}
