import type { Settings } from '../core/settings/settings.ts';
import type { StopOrder } from '../core/signals.ts';
import type { Host } from '../state/host.ts';
import type { JobOrder } from '../store/head-rows.ts';
import type { AttemptContext, EndedAttempt, LiveAttempt } from './attempt.ts';
import type { Lookout, WakeUps } from './looking.ts';
import type { Sharing } from './output.ts';
import type { Pruning } from './pruning.ts';
import type { LostAnswers, Recovery } from './recovery.ts';
import type { Scheduling } from './schedules.ts';
import type { Throttle } from './slots.ts';
import type { StopFile } from './stopping.ts';
import type { Loop } from './timer.ts';

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
