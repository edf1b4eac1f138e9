import type { App } from '../actions/app.ts';
import type { ClaimedJob, EndReason } from '../core/jobs/job.ts';
import type { Outcome } from '../core/rules/decide.ts';
import type { Emit } from '../core/rules/events.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { StopOrder } from '../core/signals.ts';
import type { UserSettings } from '../exec/frame.ts';
import type { Lifeline } from '../exec/lifeline.ts';
import type { AttemptFiles } from '../state/attempt-files.ts';
import type { Host } from '../state/host.ts';
import type { JobOrder } from '../store/claim-order.ts';
import type { Settlement } from '../store/contract/claims.ts';
import type { WorkerLease } from './guard.ts';
import type { Loop } from './loops.ts';
import type { Sharing } from './output.ts';
import type { Pruning } from './pruning.ts';
import type { LostAnswers, Recovery } from './recovery.ts';
import type { Lookout, WakeUps } from './rounds.ts';
import type { Scheduling } from './schedules.ts';
import type { Throttle, Turns } from './slots.ts';
import type { StopFile } from './stopping.ts';

export interface WorkerOptions {
  id: string;
  /** The id of the supervisor, which all workers of one `worker start` share. */
  supervisor: string;
  concurrency: number;
  /** The queues to serve. Null means every queue. */
  queues: string[] | null;
  /** Whether the worker stops when no job is left to do. */
  drain: boolean;
  /** The soft limit of open files for commands. Null leaves it unchanged. */
  openFileLimit: string | null;
  /** Whether every job gets a clean environment. */
  cleanEnv?: boolean;
  /** The worker obeys a stop file that is newer than this time of the host: the start of its supervisor, or null for its own start. */
  stopFileSince: number | null;
}

/** The values of a worker that its attempts use. They may change while an attempt runs. */
export interface AttemptContext {
  readonly app: App;
  readonly settings: Settings;
  readonly userSettings: UserSettings;
  /** Shows workers in other pid namespaces that a command of this worker is alive. */
  readonly lifeline: Lifeline | null;
  /** Decides whether a command may start. Null in a store that one host uses. */
  readonly lease: WorkerLease | null;
  readonly emit: Emit;
  readonly turns: Turns;
  /** The stop order that the worker follows, or null. */
  readonly order: StopOrder | null;
  /** The number of stop signals that this worker or its supervisor got a short time ago (`noteSignal`). */
  readonly recentSignals: number;
}

/** The circumstances under which a worker takes over an attempt. */
export interface Adoption {
  /**
   * Whether the former worker registered in another boot or with another state directory. Then a missing record does not prove that
   * the command never started.
   */
  isElsewhere: boolean;
  /** Whether the former worker was being stopped. */
  stopping: boolean;
}

/** An attempt that has ended and waits to be settled. */
export interface EndedAttempt {
  job: ClaimedJob;
  /** The files of the attempt. Null if it has none, or if they belong to another worker or are on another host. */
  files: AttemptFiles | null;
  adopted: boolean;
  /** Whether the job was claimed but is not started, because it has no slot. */
  givenBack: boolean;
  outcome: Outcome;
  settlement: Settlement;
}

/** A running attempt, started by this worker or taken over from a worker that is gone. */
export interface LiveAttempt {
  readonly job: ClaimedJob;
  readonly files: AttemptFiles;
  readonly adopted: boolean;
  /** Ends the command. Only the first reason counts. */
  end(reason: EndReason): void;
  /** Resolves when the attempt can be settled, to null if its claim was lost. */
  done: Promise<EndedAttempt | null>;
}

/** A worker after its registration. */
export interface RegisteredWorker extends Omit<AttemptContext, 'turns'> {
  readonly id: string;
  readonly options: WorkerOptions;
  readonly host: Host;
  /** The queues that it serves, including that of the hooks. Null means every queue. */
  readonly queues: string[] | null;
  readonly stopFile: StopFile;
}

/** The state that the parts of a running worker share. Fields that are not `readonly` change while it runs. */
export interface WorkerState extends RegisteredWorker, AttemptContext {
  readonly loops: { work: Loop; beat: Loop; trim: Loop; share: Loop; prune: Loop };
  /** Functions that cancel the timers for the next due job, the next tick and the stop timeout. */
  readonly timers: { due(): void; tick(): void; stop(): void };
  readonly lookout: Lookout;
  readonly wakeUps: WakeUps;
  /** The running attempts by number, including adopted ones. */
  readonly live: Map<number, LiveAttempt>;
  /** The attempts that have ended and wait to be settled. */
  readonly ended: EndedAttempt[];
  /** Starts a round after this time, unless such a round is planned already. */
  readonly settleAfter: (ms: number) => void;
  readonly throttle: Throttle;
  readonly recovery: Recovery;
  readonly lostAnswers: LostAnswers;
  readonly scheduling: Scheduling;
  readonly pruning: Pruning;
  /** Null if the store does not share output. */
  readonly sharing: Sharing | null;
  /** Runs heartbeats and the worker's leaving one at a time, because a worker must not leave while a heartbeat adopts jobs. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  /** Is resolved when the worker has ended, and rejected if it failed. */
  readonly end: PromiseWithResolvers<void>;
  settings: Settings;
  order: StopOrder | null;
  recentSignals: number;
  /** The job of other workers for which the last claim has left room, and since when none of them was started, by the monotonic clock. */
  leftRoomFor: JobOrder | null;
  leavesRoomSince: number;
  /** Whether the other workers of its supervisor are being stopped, too, even if the store does not show it yet. */
  siblingsStop: boolean;
  /** Whether commands may start, by the lease and the guard. It is read at the start of each round, and again before each command. */
  mayStart: boolean;
  /** Whether no jobs are claimed because the ballast was freed on a full disk. The space is for the results of the running jobs. */
  savesSpace: boolean;
  /** Whether the worker has reported that the store cannot be reached. */
  isOutageReported: boolean;
  /** Whether a worker with --drain has found no job left to do. */
  idle: boolean;
  /** Whether the last heartbeat has stored that this worker is leaving, and has then checked for jobs without a worker. */
  lastCheckDone: boolean;
  /** Whether the worker is ending or has ended. Then none of its parts may start anything more. */
  over: boolean;
}

/** Stops all loops, timers and watches, so that the worker starts nothing more. */
export function close(worker: WorkerState): void {
  worker.over = true;
  for (const loop of Object.values(worker.loops)) loop.stop();
  for (const cancel of Object.values(worker.timers)) cancel();
  worker.wakeUps.end();
  worker.lease?.release();
}

/** Ends the worker with an error. Its jobs keep running. */
export function fail(worker: WorkerState, error: unknown): void {
  if (worker.over) return;
  close(worker);
  worker.end.reject(error);
}
