import type { Transition } from '../core/decide.ts';
import type { Happening, StoreEvent } from '../core/events.ts';
import type { Figures, Tier } from '../core/figures.ts';
import type { JobFilter } from '../core/filter.ts';
import type { Idempotency } from '../core/idempotency.ts';
import type {
  Claim,
  ClaimedJob,
  Dependency,
  EndReason,
  GoneJob,
  Job,
  JobSpec,
  Seal,
  State,
  Stream,
} from '../core/job.ts';
import type { JobChanges } from '../core/job-changes.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Pause, QueueChanges } from '../core/queue.ts';
import type { Rate } from '../core/rate.ts';
import type { EventRetention, Held, PrunedState, Retention } from '../core/retention.ts';
import type { Schedule, ScheduleSpec } from '../core/schedule.ts';
import type { Attempt, AttemptOutput, FinishedAttempt } from './attempt.ts';
import type { DeadJob, ListedJob, Page, QueueCount } from './listing.ts';
import type { ExportedRow, Loaded, Loading, LoadOptions } from './transfer.ts';
import type { NewWorker, StopMark, StopOrder, Supervised, Worker } from './worker.ts';

/**
 * The contract of a store: domain verbs, each with its promise. The conformance suite is written against these
 * sentences. Every write is durable when its promise resolves, and either happens as a whole or not at all. Once a newer
 * queuectl has changed the schema, nothing is written any more (`newer-schema`).
 */
export interface Store {
  /** Random, new with every store, restore and import: attempts of different stores never share a name. */
  readonly epoch: string;
  /** The epoch of the store this one was a copy of; null: it is none. */
  readonly origin: string | null;

  /**
   * Adds all or none, in the given order. An id that exists is refused, whatever its job's state. In place of a job whose
   * unique key is taken the one that has it is answered, marked `existing`. Takes the jobs one by one, perhaps more than
   * once, and answers what `keep` makes of each, else the jobs: its memory is that of the answers.
   * A job may wait for others, of the store or of the same batch; one that does not exist, and a circle, are refused. One
   * whose parent has already ended otherwise than wanted is cancelled at once, or held, or runs, as its policy says.
   * With a key that was used before, by whomever and whatever became of it, nothing is added: for the same body the jobs
   * of the first use are answered, marked `existing`, those that were removed since `gone`; another body is refused.
   */
  insert(jobs: Iterable<JobSpec>, now: number): Promise<Job[]>;
  insert<T = Job | GoneJob>(
    jobs: Iterable<JobSpec>,
    now: number,
    keep?: (job: Pick<Job, 'id' | 'existing'>) => T,
    once?: Idempotency,
  ): Promise<T[]>;
  /** Its stdin is left unread, as in lists and claims. */
  get(id: string): Promise<Job | null>;
  /** Newest first. The cost depends on the page, not on the history. */
  list(filter: JobFilter, page: Page): Promise<ListedJob[]>;
  /** The dead ones in the same order, but only what tells how they died: for a look at thousands. */
  deadJobs(limit: number, before?: number): Promise<DeadJob[]>;
  /**
   * The number at which a look at so many jobs of the filter's name, or else of its queue and states, would end, begun
   * below `before`; 0: it would see all of them, of a search all that are searched. What else the filter says costs a look
   * at each: by this one keeps it within bounds.
   */
  reach(filter: JobFilter, many: number, before?: number): Promise<number>;
  /** How many jobs match, of the whole store or of a stretch of it, counted no further than `most`. */
  count(filter: JobFilter, most: number, stretch?: Pick<Page, 'before' | 'above'>): Promise<number>;
  /** The ids that begin so, at most `limit`; an id that is the text itself comes alone. */
  startingWith(prefix: string, limit: number): Promise<string[]>;
  /** Jobs by queue and state, kept with every change rather than counted. */
  counts(): Promise<QueueCount[]>;
  /** Every attempt of a job, oldest first. */
  attempts(id: string): Promise<Attempt[]>;
  /** What has become of each job that this one waits for, in the order given. */
  dependencies(id: string): Promise<ParentState[]>;
  /** The jobs that were cancelled because of this one, directly or by way of others, and still are. */
  cutOff(id: string): Promise<string[]>;
  /** What the job's command reads; null when there is nothing. It goes with its job. */
  stdin(id: string): Promise<string | null>;
  /**
   * The output kept in the store; null when it is in a file or there was none. Only of split output is there a stderr;
   * then both are kept here, or neither.
   */
  output(attempt: number, stream?: Stream): Promise<Uint8Array | null>;
  /** Whether the attempt's directory is still of use: it runs, or its output is kept in a file. */
  needsPlace(attempt: number): Promise<boolean>;
  /** The seal that was stored last; null: none. */
  seal(): Promise<Seal | null>;
  /** Stores this seal with the number of the last attempt. The same value again changes nothing. */
  storeSeal(value: string): Promise<void>;

  /**
   * Settles what ended and takes at most `limit` due jobs, in one transaction: higher priority first, then in the
   * order of enqueueing. No more run at a time than the limits of their queues and the setting max-concurrent-jobs allow.
   * In a queue with aging a priority counts with what its first job has gained by waiting; within one priority the order
   * stays, and beyond 32 priorities that wait at once some get their turn later. No job has two holders, and every claim has
   * a higher token than the one before.
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
   * cancelled instead of being tried again. The jobs that waited for its end become ready, or can no longer run, in the
   * same transaction.
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

  /**
   * `used` is the highest attempt that has a place on disk: a store that was put back from an older copy, or repaired, must
   * not give its number, or one below it, to another.
   */
  register(worker: NewWorker, used?: number): Promise<void>;
  /** Renews the heartbeat and answers what the worker was ordered to do. Null: it is no longer registered. */
  beat(workerId: string, draining: boolean, now: number): Promise<{ order: StopOrder | null } | null>;
  /** The order alone, without a write. */
  ordered(workerId: string): Promise<StopOrder | null>;
  /** Refused (false) while the worker holds a job. */
  unregister(workerId: string): Promise<boolean>;
  /**
   * Unregisters a worker together with the jobs it holds, if one of the `heirs` is registered and neither drains nor was
   * ordered to stop: an heir looks for jobs without a worker before it leaves in turn. False: nothing has changed.
   */
  handOver(workerId: string, heirs: string[]): Promise<boolean>;
  workers(): Promise<Worker[]>;
  /**
   * A supervisor is addressed too: while a worker of its is being replaced, nobody else could be told to stop. Returns the
   * last order to all, as of the same moment: the supervisor may have been starting when it was given.
   */
  registerSupervisor(supervisor: Supervised): Promise<StopMark | null>;
  unregisterSupervisor(id: string): Promise<void>;
  supervisors(): Promise<(Supervised & { order: StopOrder | null })[]>;
  /**
   * Orders workers and supervisors to stop. A supervisor's order is that of its workers, those included that register
   * later. A stronger order replaces a weaker one, never the reverse.
   */
  order(ids: string[], order: StopOrder): Promise<void>;
  /** Orders all that are registered to stop and leaves the mark, in one step. */
  orderAll(order: StopOrder, mark: StopMark): Promise<void>;

  /**
   * Makes jobs of the given states pending, uncharged and due now; never a running one. Answers those it changed. One
   * that waited for a job that is unfinished again waits again. One with a unique key takes it again, and stays as it is
   * where another job has it; a key that was taken for a time only is not taken again. With `bulk`, an at-most-once job
   * that was started before stays as it is.
   */
  retry(ids: string[], from: readonly State[], now: number, bulk?: boolean): Promise<string[]>;
  /** The job that has the unique key which this one, in one of the given states, would need to be retried; null: nobody. */
  keyHolder(id: string, from: readonly State[], now: number): Promise<string | null>;
  /**
   * Removes jobs of the given states with their attempts; never a running one. Answers what it removed. To a job that
   * waits for one of them it will never have ended, however that was wanted.
   */
  remove(ids: string[], from: readonly State[], now: number): Promise<{ ids: string[]; attempts: number[] }>;

  /**
   * Removes jobs that ended in this state with their attempts, the first to have ended first, as far as `keep` lets them
   * go. A few at a time, so that nobody waits long for the writer; when there is nothing left to remove, nothing is
   * written.
   * The cost depends on what goes, not on what stays.
   */
  prune(state: PrunedState, keep: Retention, now: number): Promise<Pruned>;
  /** What `prune` would remove in all. */
  prunable(state: PrunedState, keep: Retention, now: number): Promise<Held>;
  /** Removes a few of the idempotency keys that are no longer kept (KEY_KEPT_MS). Answers how many. */
  forgetKeys(now: number): Promise<number>;

  /**
   * Waiting jobs are cancelled at once; of running ones the wish is committed, and whoever holds them ends them.
   * Answers which were cancelled, which are being ended, and which had ended before.
   */
  cancel(ids: string[], now: number): Promise<{ cancelled: string[]; ending: string[]; ended: string[] }>;
  /** A held job is not claimed, whenever it is due. Answers those that were waiting before. */
  hold(ids: string[], now: number): Promise<string[]>;
  /** Answers those that were held. */
  release(ids: string[], now: number): Promise<string[]>;
  /** Changes waiting jobs, held or not. Answers those it changed. Gives no at-most-once job a `maxRetries` above 1. */
  edit(ids: string[], changes: JobChanges, now: number): Promise<string[]>;

  /** Every queue that was ever used or set, by name. */
  queues(): Promise<Queue[]>;
  /** Changes what is given, of one queue, which need not exist yet. */
  setQueue(name: string, changes: QueueChanges): Promise<Queue>;
  /** Forgets a queue with its limits and its pause, if it has no jobs; its events keep its name. */
  removeQueue(name: string): Promise<'removed' | 'has-jobs' | 'absent'>;

  /** Refused when the name is taken. */
  addSchedule(spec: ScheduleSpec, nextAt: number, now: number): Promise<Schedule>;
  /** By name. */
  schedules(): Promise<Schedule[]>;
  /**
   * Replaces when the schedule of this name fires, what it enqueues and its policies; null: there is none of this name.
   * With `nextAt` that is its next tick, unless it is paused; with null the tick that is due stays so. Ticks that wait stay.
   */
  editSchedule(spec: ScheduleSpec, nextAt: number | null): Promise<Schedule | null>;
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
   * left out. While a job of the schedule is unfinished, `overlap` decides; a tick that waited goes first. A tick whose job
   * has a unique key that is taken is skipped.
   */
  fire(firing: Firing, job: (at: number) => JobSpec, now: number): Promise<FiredTick[] | null>;
  /**
   * One job at once and whatever else runs; not a tick of its timing. Where its unique key is taken the job that has it is
   * answered, marked `existing`. Null: there is none of this name.
   */
  fireNow(name: string, job: JobSpec, now: number): Promise<Job | null>;

  settings(): Promise<Map<string, string>>;
  /** Stores a setting, or removes it (null), after `check` has seen the whole that results. */
  set(key: string, text: string | null, check: (stored: Map<string, string>) => void): Promise<void>;

  /**
   * What happened in a range, by the stretches of its tier, oldest first; one in which nothing did is left out. Counted in
   * the transaction in which it happened, so every connection sees it at once, and no figure changes when jobs go. The
   * cost is that of the range, whatever the history.
   */
  series(request: SeriesRequest): Promise<({ at: number } & Figures)[]>;
  /** The same, summed over the range, by queue and name. */
  breakdown(request: SeriesRequest): Promise<(Labels & Figures)[]>;
  /** Since there are figures, by queue and name: they only rise. */
  totals(): Promise<(Labels & Figures)[]>;
  /** Since when each queue's oldest job that may run has been waiting; null: none does. Held and blocked ones may not. */
  oldestWaiting(now: number): Promise<{ queue: string; since: number | null }[]>;
  /** The size of the write-ahead log; null where there is none to watch. */
  walBytes(): Promise<number | null>;
  /** Removes a few of the figures that are no longer kept (TIERS). Answers how many. */
  forgetRollups(now: number): Promise<number>;

  /** Finished attempts, the last to be started first, at most `limit`. */
  finished(limit: number): Promise<FinishedAttempt[]>;
  /** Jobs that ended in this state, the last to end first, at most `limit`. The cost depends on `limit` alone. */
  lastEnded(state: PrunedState, limit: number): Promise<Job[]>;
  /** Fails when what is open is no longer the store at its place: it was removed, replaced by another, or has a newer schema. */
  check(): Promise<void>;

  /**
   * What happened behind event `after`, in the order of the commits: at most `limit`, numbered without a gap. Every change
   * by a verb of this contract is there once, and there as soon as the change is; beats and stop orders are none.
   */
  events(after: number, limit: number): Promise<StoreEvent[]>;
  /**
   * What happened to one job, newest first, at most `limit`: among the events behind `after` up to `to`, of which each costs
   * a look. Where many jobs were enqueued at once, the number of the last of them decides.
   */
  eventsOfJob(id: string, after: number, to: number, limit: number): Promise<StoreEvent[]>;
  /** The number of the last event; 0: nothing has happened. It never falls, whatever is removed. */
  lastEvent(): Promise<number>;
  /** The number of the last event before this time; where a clock was set back, of one of them. */
  lastEventBefore(at: number): Promise<number>;
  /** Remembers something that is about no job in particular, and changes nothing else. */
  note(happening: Happening): Promise<void>;
  /** Removes the oldest events as far as `keep` lets them go, a few at a time. Answers how many. */
  pruneEvents(keep: EventRetention, now: number): Promise<number>;
  /** How many `pruneEvents` would remove in all. */
  prunableEvents(keep: EventRetention, now: number): Promise<number>;

  /** The same store for somebody else: events name them. */
  as(actor: string): Store;

  /**
   * Makes a copy of a store a store of its own: a new epoch, no workers. What was running in it is settled as `lose` says;
   * all in one transaction. Only for a store that nobody works on.
   */
  renew(lose: (job: ClaimedJob) => Settlement): Promise<void>;

  /** Hands out everything that makes up the queue, as of one moment, in an order in which it can be loaded. */
  dump(keep: (row: ExportedRow) => void): Promise<void>;
  /**
   * Adds what was dumped, here or elsewhere, all or nothing. Numbers are moved out of the way of those in use; in an empty
   * store they stay. What is here already under its name is skipped with all that belongs to it, or refused. Figures are
   * added only where there are none yet. What was running is settled as `lose` says.
   */
  load(
    rows: (loading: Loading) => Iterable<ExportedRow>,
    options: LoadOptions,
    lose: (job: ClaimedJob) => Settlement,
  ): Promise<Loaded>;

  close(): Promise<void>;
}

export interface ParentState extends Dependency {
  phase: 'open' | 'met' | 'failed';
  /** Null: the job is gone. */
  state: State | null;
}

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
  /** A ready job gains one priority for each so long that it has been there and due; null: waiting gains nothing. */
  agingMs: number | null;
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
  /** Null: it waits for the job before it, or was skipped because of it or of its unique key. */
  job: Job | null;
  waits: boolean;
}

export interface ClaimRequest {
  workerId: string;
  limit: number;
  /** Null: every queue. */
  queues: string[] | null;
  settle: Settlement[];
}

export interface ClaimResult {
  settled: SettleAnswer[];
  jobs: ClaimedJob[];
  /** What was settled made room under a limit, for which other workers may be waiting. */
  limited: boolean;
  /** Jobs that waited for what was settled may run now. */
  unblocked: boolean;
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
  /** How long the attempt took by a clock that does not step; not given: the time between its start and `finishedAt`. */
  durationMs?: number;
  output: AttemptOutput;
  /** Processes that a successful command left behind. */
  leftBehind: number[];
  /** Added together with this settlement: if it applies, and only then. An id that is taken is replaced. */
  hooks: JobSpec[];
  /** Added too, if this leaves no job outside queue `hooks` ready, running or waiting for a retry; paused queues aside. */
  onIdle: JobSpec | null;
}

/** From `from` up to, not including, `to`; of one queue or one name, when given. */
export interface SeriesRequest {
  tier: Tier;
  from: number;
  to: number;
  queue?: string;
  name?: string;
}

/** What figures are kept by. A job without a name has the name ''; those of names beyond MOST_NAMES have OTHER. */
export interface Labels {
  queue: string;
  name: string;
}
