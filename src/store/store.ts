import type { Transition } from '../core/decide.ts';
import type { JobFilter } from '../core/filter.ts';
import type { Claim, ClaimedJob, EndReason, Job, JobSpec, State } from '../core/job.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Rate } from '../core/rate.ts';
import type { Held, PrunedState, Retention } from '../core/retention.ts';
import type { Schedule, ScheduleSpec } from '../core/schedule.ts';

/**
 * The contract of a store: domain verbs, each with its promise. The conformance suite is written against these
 * sentences. Every write is durable when its promise resolves, and either happens as a whole or not at all.
 */
export interface Store {
  /** Random, new with every store, restore and import: attempts of different stores never share a name. */
  readonly epoch: string;

  /**
   * Adds all or none, in the given order. An id that exists is refused, whatever its job's state. In place of a job whose
   * unique key is taken the one that has it is answered, marked `existing`. Takes the jobs one by one, perhaps more than
   * once, and answers what `keep` makes of each, else the jobs: its memory is that of the answers.
   */
  insert<T = Job>(jobs: Iterable<JobSpec>, now: number, keep?: (job: Job) => T): Promise<T[]>;
  get(id: string): Promise<Job | null>;
  /** Newest first. The cost depends on the page, not on the history. */
  list(filter: JobFilter, page: Page): Promise<ListedJob[]>;
  /** The ids that begin so, at most `limit`; an id that is the text itself comes alone. */
  startingWith(prefix: string, limit: number): Promise<string[]>;
  /** Jobs by queue and state, kept with every change rather than counted. */
  counts(): Promise<QueueCount[]>;
  /** Every attempt of a job, oldest first. */
  attempts(id: string): Promise<Attempt[]>;
  /** The output kept in the store; null when it is in a file or there was none. */
  output(attempt: number): Promise<Uint8Array | null>;
  /** Whether the attempt's directory is still of use: it runs, or its output is kept in a file. */
  needsPlace(attempt: number): Promise<boolean>;

  /**
   * Settles what ended and takes at most `limit` due jobs, in one transaction: higher priority first, then in the
   * order of enqueueing. No job has two holders, and every claim has a higher token than the one before.
   */
  claim(request: ClaimRequest, now: number): Promise<ClaimResult>;
  /**
   * When the next job that may run falls due; a time in the past when one is ready now; null when none waits. Jobs of
   * paused and full queues do not count; those of a queue at its rate count from when the rate allows them.
   */
  nextDue(queues: string[] | null, now: number): Promise<number | null>;
  /**
   * The queues in which a job runs, is ready whatever their limits, or waits for a retry. Held jobs and those of paused
   * queues do not count.
   */
  busy(now: number): Promise<string[]>;
  /**
   * Applies the transition if, and only if, the claim still holds. A job that somebody has cancelled meanwhile is
   * cancelled instead of being tried again.
   */
  settle(settlement: Settlement): Promise<SettleAnswer>;
  /** Commits why a running attempt is about to be ended; the first reason stays. False: the claim is lost. */
  mark(claim: Claim, reason: EndReason): Promise<boolean>;
  /** Takes a running job over from another worker. Of several takers one wins; null: the claim is lost. */
  adopt(claim: Claim, workerId: string): Promise<ClaimedJob | null>;
  /** Every running job with the worker that holds it. */
  running(): Promise<ClaimedJob[]>;
  /** The attempts of a worker that somebody has decided to end. */
  endings(workerId: string): Promise<{ attempt: number; reason: EndReason }[]>;

  register(worker: NewWorker): Promise<void>;
  /** Renews the heartbeat and answers what the worker was ordered to do. Null: it is no longer registered. */
  beat(workerId: string, draining: boolean, now: number): Promise<{ order: StopOrder | null } | null>;
  /** The order alone, without a write. */
  ordered(workerId: string): Promise<StopOrder | null>;
  /** Refused (false) while the worker holds a job. */
  unregister(workerId: string): Promise<boolean>;
  workers(): Promise<Worker[]>;
  /** A supervisor is addressed too: while a worker of its is being replaced, nobody else could be told to stop. */
  registerSupervisor(supervisor: Supervised): Promise<void>;
  unregisterSupervisor(id: string): Promise<void>;
  supervisors(): Promise<(Supervised & { order: StopOrder | null })[]>;
  /**
   * Orders workers and supervisors to stop. A supervisor's order is that of its workers, those included that register
   * later. A stronger order replaces a weaker one, never the reverse.
   */
  order(ids: string[], order: StopOrder): Promise<void>;

  /** Makes jobs of the given states pending, uncharged and due now; never a running one. Answers those it changed. */
  retry(ids: string[], from: readonly State[], now: number): Promise<string[]>;
  /** Removes jobs of the given states with their attempts; never a running one. Answers what it removed. */
  remove(ids: string[], from: readonly State[]): Promise<{ ids: string[]; attempts: number[] }>;

  /**
   * Removes jobs that ended in this state with their attempts, the first to have ended first, as far as `keep` lets them
   * go. A few at a time, so that nobody waits long for the writer; when there is nothing left to remove, nothing is
   * written.
   * The cost depends on what goes, not on what stays.
   */
  prune(state: PrunedState, keep: Retention, now: number): Promise<Pruned>;
  /** What `prune` would remove in all. */
  prunable(state: PrunedState, keep: Retention, now: number): Promise<Held>;

  /**
   * Waiting jobs are cancelled at once; of running ones the wish is committed, and whoever holds them ends them.
   * Answers which were cancelled, which are being ended, and which had ended before.
   */
  cancel(ids: string[], now: number): Promise<{ cancelled: string[]; ending: string[]; ended: string[] }>;
  /** A held job is not claimed, whenever it is due. Answers those that were waiting before. */
  hold(ids: string[], now: number): Promise<string[]>;
  /** Answers those that were held. */
  release(ids: string[], now: number): Promise<string[]>;
  /** Changes waiting jobs, held or not. Answers those it changed. */
  edit(ids: string[], changes: JobChanges, now: number): Promise<string[]>;

  /** Every queue that was ever used or set, by name. */
  queues(): Promise<Queue[]>;
  /** Changes what is given, of one queue, which need not exist yet. */
  setQueue(name: string, changes: QueueChanges): Promise<Queue>;

  /** Refused when the name is taken. */
  addSchedule(spec: ScheduleSpec, nextAt: number, now: number): Promise<Schedule>;
  /** By name. */
  schedules(): Promise<Schedule[]>;
  /** Its jobs stay. False: there is none of this name. */
  removeSchedule(name: string): Promise<boolean>;
  /** Pauses a schedule, or resumes it (null) with its next tick. Null: there is none of this name. */
  pauseSchedule(name: string, paused: Pause | null, nextAt: number | null): Promise<Schedule | null>;
  /** When the next tick comes; a time in the past when one that waited may go now; null when none comes. */
  nextTick(): Promise<number | null>;
  /** The schedules whose tick has come, or with one that waited and may go now. */
  dueSchedules(now: number): Promise<Schedule[]>;
  /**
   * Moves a schedule on from the tick it was seen at and enqueues its ticks, all in one transaction: of several who see
   * the same one applies it, the others get null. A tick that was dealt with before, whatever the clock said then, is
   * left out. While a job of the schedule is unfinished, `overlap` decides; a tick that waited goes first.
   */
  fire(firing: Firing, job: (at: number) => JobSpec, now: number): Promise<FiredTick[] | null>;
  /** One job at once and whatever else runs; not a tick of its timing. Null: there is none of this name. */
  fireNow(name: string, job: JobSpec, now: number): Promise<Job | null>;

  settings(): Promise<Map<string, string>>;
  /** Stores a setting, or removes it (null), after `check` has seen the whole that results. */
  set(key: string, text: string | null, check: (stored: Map<string, string>) => void): Promise<void>;

  /** Finished attempts, the last to be started first, at most `limit`. */
  finished(limit: number): Promise<FinishedAttempt[]>;

  close(): Promise<void>;
}

export type JobChanges = Partial<
  Pick<JobSpec, 'priority' | 'runAt' | 'queue' | 'command' | 'timeoutMs' | 'maxRetries' | 'tags' | 'name'>
>;

export interface Pruned extends Held {
  /** The attempts among them whose output is in a file. */
  attempts: number[];
}

export interface Queue {
  name: string;
  pausedAt: number | null;
  pausedBy: string | null;
  /** At most so many jobs at a time, over all workers. */
  concurrency: number | null;
  rate: Rate | null;
}

export interface Pause {
  at: number;
  by: string;
}

export interface Firing {
  /** The schedule as it was seen. */
  schedule: Schedule;
  /** Oldest first. */
  ticks: { at: number; mayWait: boolean }[];
  nextAt: number | null;
}

export interface FiredTick {
  at: number;
  /** Null: it waits for the job before it, or was skipped because of it. */
  job: Job | null;
  waits: boolean;
}

export interface QueueChanges {
  paused?: Pause | null;
  concurrency?: number | null;
  rate?: Rate | null;
}

export interface Page {
  limit: number;
  /** Continue below this `number` of the page before. */
  before?: number;
}

export interface ListedJob extends Job {
  /** The store's number of the job: rises with every enqueue. */
  number: number;
}

export interface QueueCount {
  queue: string;
  state: State;
  jobs: number;
}

export interface ClaimRequest {
  workerId: string;
  limit: number;
  /** Null: every queue. */
  queues: string[] | null;
  /** No more than so many jobs run at a time over all workers; null: no such limit. */
  mostRunning: number | null;
  settle: Settlement[];
}

export interface ClaimResult {
  settled: SettleAnswer[];
  jobs: ClaimedJob[];
  /** What was settled made room under a limit, for which other workers may be waiting. */
  limited: boolean;
}

/** `already-mine`: this very settlement had been applied before (its answer got lost). */
export type SettleAnswer = 'applied' | 'already-mine' | 'lost';

export interface Settlement {
  claim: Claim;
  transition: Transition;
  why: Outcome['why'];
  exitCode: number | null;
  error: string | null;
  finishedAt: number;
  output: AttemptOutput;
  /** Processes that a successful command left behind. */
  leftBehind: number[];
  /** Added together with this settlement: if it applies, and only then. An id that is taken is replaced. */
  hooks: JobSpec[];
  /** Added too, if this leaves no job outside queue `hooks` ready, running or waiting for a retry; paused queues aside. */
  onIdle: JobSpec | null;
}

export interface AttemptOutput {
  /** What the command wrote in all. */
  bytes: number;
  /** Something between head and tail was dropped. */
  truncated: boolean;
  /** Short output, kept in the store; null: in the attempt's file. */
  kept: Uint8Array | null;
  /** What is left of it, where something was dropped. */
  stored?: number;
}

export interface Attempt {
  /** The store's number, never reused. */
  number: number;
  ordinal: number;
  workerId: string;
  startedAt: number;
  finishedAt: number | null;
  why: Outcome['why'] | null;
  exitCode: number | null;
  error: string | null;
  outputBytes: number;
  truncated: boolean;
  leftBehind: number[];
}

export interface FinishedAttempt {
  waitMs: number;
  runMs: number;
  finishedAt: number;
}

/** Strongest last. */
export const STOP_ORDERS = ['drain', 'leave', 'force'] as const;
export type StopOrder = (typeof STOP_ORDERS)[number];

/** The machine as far as processes are concerned: a pid means something only within one of these. */
export interface Host {
  id: string;
  boot: string;
  pidNamespace: string;
}

/** A process of ours, named for ever by its machine, its pid and its start. */
export interface Supervised {
  id: string;
  pid: number;
  /** When the process started, in the kernel's own count: with the pid it names one process for ever. */
  startTime: string;
  host: Host;
}

export interface NewWorker extends Supervised {
  supervisor: string;
  hostname: string;
  concurrency: number;
  queues: string[] | null;
  startedAt: number;
}

export interface Worker extends NewWorker {
  lastHeartbeat: number;
  /** Rises with every heartbeat: an observer needs no clock in common with the worker. */
  beat: number;
  draining: boolean;
  order: StopOrder | null;
  currentJobs: string[];
}
