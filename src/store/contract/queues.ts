import type { QueueChanges, Rate, Tokens } from '../../core/rules/queue.ts';

/** Keeps the queues with their limits, and the settings of the store. */
export interface QueueStore {
  /** Returns every queue that was used or set and not removed, ordered by name. */
  queues(): Promise<QueueRow[]>;
  /** Returns the queues that are paused or have a concurrency limit or a rate. */
  limitedQueues(): Promise<QueueRow[]>;
  /** Changes the given properties of a queue, which need not exist yet. */
  setQueue(name: string, changes: QueueChanges): Promise<QueueRow>;
  /** Removes a queue with its limits and its pause, if it has no jobs. Its events keep its name. */
  removeQueue(name: string): Promise<'removed' | 'has-jobs' | 'absent'>;
  settings(): Promise<Map<string, string>>;
  /**
   * Stores a setting, or removes it if `text` is null. Calls `check` in the same transaction with all settings as they will
   * be afterwards, and changes nothing if it throws. `check` is pure and synchronous, so a store may call it more than once.
   */
  set(key: string, text: string | null, check: (stored: Map<string, string>) => void): Promise<void>;
}

export interface QueueRow {
  name: string;
  pausedAt: number | null;
  pausedBy: string | null;
  /** The maximum number of jobs that run at a time, over all workers. */
  concurrency: number | null;
  rate: Rate | null;
  /** What was left of the rate at the last claim. Null if nothing was claimed since the rate was set. */
  tokens: Tokens | null;
}
