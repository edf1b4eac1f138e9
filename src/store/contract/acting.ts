import type { State } from '../../core/job.ts';
import type { JobChanges } from '../../core/job-changes.ts';

/** Changes jobs on request. A job that can no longer be changed is left as it is and missing from the result. */
export interface ActingStore {
  /**
   * Makes jobs of the given states pending, with no attempts charged and due now. Never touches a running job. Returns the
   * ids it changed.
   *
   * - A job waits again for a parent that is unfinished again.
   * - A job takes its unique key again, and is left alone if another job has it. A key with a time limit is not taken again.
   * - With `bulk`, an at-most-once job that was started before is left alone.
   */
  retry(ids: string[], from: readonly State[], now: number, bulk?: boolean): Promise<string[]>;
  /** Returns the job whose unique key keeps this one, in one of the given states, from being retried; null if none does. */
  keyHolder(id: string, from: readonly State[], now: number): Promise<string | null>;
  /**
   * Removes jobs of the given states with their attempts. Never removes a running job. Returns what it removed. For a
   * dependent job a removed parent has failed, whatever end it wanted. `dependents` are the jobs that this cancelled.
   */
  remove(
    ids: string[],
    from: readonly State[],
    now: number,
  ): Promise<{ ids: string[]; attempts: number[]; dependents: string[] }>;
  /**
   * Cancels waiting jobs at once. For running jobs it commits the request, and the worker that holds them ends them. Returns
   * which jobs were cancelled, which are being ended, and which had ended before. `dependents` are further jobs that were
   * cancelled because they depended on a cancelled one.
   */
  cancel(
    ids: string[],
    now: number,
  ): Promise<{ cancelled: string[]; ending: string[]; ended: string[]; dependents: string[] }>;
  /** Keeps jobs from being claimed, even when they are due. Returns the ids that were waiting before. */
  hold(ids: string[], now: number): Promise<string[]>;
  /** Releases held jobs. Returns the ids that were held. */
  release(ids: string[], now: number): Promise<string[]>;
  /** Changes waiting jobs, held or not. Returns the ids it changed. Never gives an at-most-once job a `maxRetries` above 1. */
  edit(ids: string[], changes: JobChanges, now: number): Promise<string[]>;
}
