import type { State } from '../../core/jobs/job.ts';
import type { JobChanges } from '../../core/jobs/job-changes.ts';

/** Changes jobs on request. A job that cannot be changed in its current state is left as it is. */
export interface JobActionStore {
  /**
   * Makes jobs of the states `from` pending and due now, and resets their attempts. Never changes a running job. A held job
   * stays held. Returns the ids of the changed jobs.
   *
   * - If a parent of the job is unfinished again, for example because it was retried too, the job waits for it.
   * - A job takes its unique key again, and is left alone if another job has it. A key with a time limit is not taken again.
   * - With `bulk`, an at-most-once job that was started before is left alone.
   */
  retry(ids: string[], from: readonly State[], now: number, bulk?: boolean): Promise<string[]>;
  /** Returns the id of the job whose unique key prevents a retry of this job from the states `from`, or null if none does. */
  keyHolder(id: string, from: readonly State[], now: number): Promise<string | null>;
  /**
   * Removes jobs of the states `from` with their attempts. Never removes a running job. A removed parent meets no dependency,
   * so jobs that wait for it are cancelled, held or run, depending on their policy.
   */
  remove(ids: string[], from: readonly State[], now: number): Promise<RemovedJobs>;
  /**
   * Immediately cancels jobs that are not running. For a running job it stores the wish, and the worker that holds the job stops
   * it, first with `signal` if that is given. A later cancel without a signal does not change an earlier one.
   */
  cancel(ids: string[], now: number, signal?: NodeJS.Signals): Promise<CancelledJobs>;
  /**
   * Stores the wish that the workers of running jobs signal their processes, for an attempt that this host cannot signal. A
   * later wish replaces one that was not fulfilled yet. Returns the ids of the jobs that run and are not being stopped.
   */
  wishSignal(ids: string[], signal: NodeJS.Signals): Promise<string[]>;
  /** Keeps waiting jobs from being claimed, even when they are due. Returns the ids of the changed jobs. */
  hold(ids: string[], now: number): Promise<string[]>;
  /** Releases held jobs. Returns the ids of the released jobs. */
  release(ids: string[], now: number): Promise<string[]>;
  /** Changes jobs that neither run nor have ended, except an at-most-once job if `maxRetries` is above 1. Returns the ids of the changed jobs. */
  edit(ids: string[], changes: JobChanges, now: number): Promise<string[]>;
}

export interface RemovedJobs {
  ids: string[];
  /** The numbers of the removed attempts. */
  attempts: number[];
  /** The ids of the dependent jobs that were cancelled because of the removal. */
  dependents: string[];
}

/**
 * The ids of the jobs that were cancelled, that are being stopped (`ending`), and that had ended before. `dependents` are
 * further jobs that were cancelled because they depended on a cancelled one.
 */
export type CancelledJobs = Record<'cancelled' | 'ending' | 'ended' | 'dependents', string[]>;
