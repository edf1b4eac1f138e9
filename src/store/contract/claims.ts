import type { Claim, ClaimedJob, EndReason, JobSpec } from '../../core/jobs/job.ts';
import type { AttemptEnd } from '../../core/rules/events.ts';
import type { StopOrder } from '../../core/signals.ts';
import type { JobOrder } from '../claim-order.ts';

/** How workers share transactions among short jobs. The more a transaction costs, the more jobs should share it. */
export interface Batching {
  /** How many jobs a worker claims ahead for each slot, at most. */
  aheadPerSlot: number;
  /**
   * A worker claims no more jobs ahead than its slots run within this time on average. If one of them does not start within twice this
   * time, the worker gives all of them back.
   */
  aheadMs: number;
  /** A worker claims at most this many jobs ahead, or one for each slot. Large transactions would hold up a worker with many slots. */
  mostAhead: number;
  /** Settlements wait at most this long for others while claimed jobs wait for a slot. */
  gatherMs: number;
  /** Settlements wait no longer once the claimed jobs that wait suffice only for this part of the slots, but at least one. */
  reservePerSlot: number;
}

/** Hands jobs to workers and records how their attempts ended. Two workers never hold the same job. */
export interface ClaimStore {
  /** Is missing in a store with cheap transactions. Workers then use their default. */
  readonly batching?: Batching;
  /**
   * Applies settlements and takes at most `limit` due jobs, in one transaction. The worker must be registered. Every claim of a
   * job has a higher token than the one before.
   *
   * - Higher priority comes first, then the order of enqueueing. This holds for the jobs that were committed before and that no
   *   other worker is taking at the same time. If a store lets only one worker claim at a time, it holds for all jobs.
   * - Never runs more jobs than the limits of their queues and the setting max-concurrent-jobs allow.
   * - If max-concurrent-jobs is set, leaves room for the more urgent jobs of queues that the worker does not serve, if another worker
   *   that serves them takes jobs and has a free slot.
   */
  claim(request: ClaimRequest, now: number): Promise<ClaimResult>;
  /**
   * Returns the running jobs that a worker holds. A worker calls this after `claim` or `adopt` failed, because its change may
   * have been committed although the answer got lost. Waits until it is certain whether each such change was committed.
   */
  mine(workerId: string): Promise<ClaimedJob[]>;
  /**
   * Returns everything that a worker has to do, as of one moment. `queues` are the queues from which it can take jobs.
   */
  agenda(workerId: string, queues: string[] | null, now: number): Promise<Agenda>;
  /**
   * Returns the names of those of the given queues (default: all) in which a job is running, is due (even if a limit delays it) or
   * waits for a retry. In a paused queue, only running jobs count.
   */
  busyQueues(now: number, queues?: string[] | null): Promise<string[]>;
  /**
   * Applies the transition if, and only if, the claim still holds. A job that was cancelled meanwhile is cancelled instead of
   * retried. In the same transaction, jobs that depend on it are unblocked, held or cancelled.
   */
  settle(settlement: Settlement): Promise<SettleAnswer>;
  /** Stores why a running attempt is about to be stopped. A reason that was stored before stays. Returns false if the claim is lost. */
  setEndReason(claim: Claim, reason: EndReason): Promise<boolean>;
  /**
   * Takes a running job over from another worker. Returns null if the claim no longer holds, so only one worker succeeds. Also
   * returns null if the attempt is of another host whose lease is not over: that host can find out how the attempt ends, and this
   * one cannot. With `manyHosts`, a worker whose lease is over adopts nothing. A store that one host uses has no attempts of other
   * hosts.
   */
  adopt(claim: Claim, workerId: string): Promise<ClaimedJob | null>;
  /** Returns every running job with the worker that holds it. */
  runningJobs(): Promise<ClaimedJob[]>;
  /** Returns what is wished of the running attempts of a worker. Attempts of which nothing is wished are not returned. */
  wishes(workerId: string): Promise<Wish[]>;
  /** Removes the wish for this signal after it was sent. Does nothing if the claim is lost, or if another signal is wished now. */
  signalSent(claim: Claim, signal: NodeJS.Signals): Promise<void>;
}

/**
 * A request of a user for a running attempt. It is stored, because the user may be on another host than the attempt. If `end` is set, the
 * worker ends the attempt for this reason, and `signal` is the first signal, by default SIGTERM. Otherwise the worker sends
 * `signal` to the processes of the attempt, and the attempt continues.
 */
export interface Wish {
  claim: Claim;
  end: EndReason | null;
  signal: NodeJS.Signals | null;
}

export interface Agenda {
  /** The worker's stop order, or null if it has none. */
  order: StopOrder | null;
  /** The requests for the running attempts of the worker. */
  wishes: Wish[];
  /**
   * When the next job can be claimed from the requested queues, or from any queue if these are null. The time is in the past if
   * a job can be claimed now, and null if there is none. Ignores max-concurrent-jobs, paused queues and queues at their
   * concurrency limit.
   */
  nextDue: number | null;
  /** The time of the next tick of a schedule: in the past if a waiting tick can be enqueued now, null if there is no tick. */
  nextTick: number | null;
}

export interface ClaimRequest {
  /** A registered worker. A store may return no jobs if it is not registered, or if its lease is over. */
  workerId: string;
  limit: number;
  /**
   * How many more jobs to take that the worker will start when it has a free slot. These are jobs that never ran, have no unique key
   * and are not at-most-once, of queues without a limit or a rate, up to the first job that is not like this. None are taken if
   * max-concurrent-jobs is set. They are also not taken if they are less urgent than the first job that is taken, or than
   * `aheadPriority`: before their turn comes, a more urgent job may be enqueued.
   */
  ahead?: number;
  /** The highest priority of the jobs that the worker has. Null if it has none. */
  aheadPriority?: number | null;
  /** Null means every queue. */
  queues: string[] | null;
  settlements: Settlement[];
  /** Whether to leave room within max-concurrent-jobs to other workers. The default is true. */
  leavesRoom?: boolean;
  /** Whether to give up at once if another process is writing. A store in which claims run side by side ignores this. */
  ifFree?: boolean;
}

export interface ClaimResult {
  /** Tells whether nothing was done, because another process was writing. Only a request with `ifFree` gets this answer. */
  wasBusy?: boolean;
  settled: SettleAnswer[];
  jobs: ClaimedJob[];
  /** Tells whether a concurrency limit applies, so that a settlement may have made room for other workers. */
  mayHaveMadeRoom: boolean;
  /** Tells whether a settlement has met a dependency of another job. */
  hasUnblocked: boolean;
  /**
   * The most urgent job for which room was left, or would have been left with `leavesRoom`. Is missing or null if there
   * is none.
   */
  leftRoomFor?: JobOrder | null;
}

/** `already-mine`: the same settlement was applied before, and its answer got lost. `lost`: the claim no longer holds. */
export type SettleAnswer = 'applied' | 'already-mine' | 'lost';

export interface Settlement extends AttemptEnd {
  claim: Claim;
  finishedAt: number;
  /** The run time by a monotonic clock. Without it, the time between the start and `finishedAt` counts. */
  durationMs?: number;
  output: AttemptOutput;
  /** The pids of processes that a successful command left running. */
  leftBehind: number[];
  /** Jobs to add if, and only if, this settlement is applied unchanged. A job whose id is taken gets another id. */
  hooks: JobSpec[];
  /** A job to add if, after this settlement, `busyQueues` returns no queue other than HOOK_QUEUE. */
  onIdle: JobSpec | null;
}

export interface AttemptOutput {
  /** The number of bytes that the command wrote. */
  bytes: number;
  /** Tells whether a part between head and tail was dropped. */
  truncated: boolean;
  /** Short output, kept in the store. Null if the output is in the attempt's file. */
  kept: Uint8Array | null;
  /** The stderr, if the output is split. `kept` is then only the stdout. */
  keptStderr?: Uint8Array | null;
  /** The size of the output file after some bytes were dropped. Unset if none were. */
  remainingBytes?: number;
}
