import type { Settings } from '../core/settings.ts';
import type { StopOrder } from '../core/stop-order.ts';
import type { Host } from '../state/host.ts';
import type { AttemptContext, Finished, LiveAttempt } from './attempt.ts';
import type { Pace } from './pace.ts';
import type { Pruning } from './pruning.ts';
import type { Recovery } from './recovery.ts';
import type { Scheduling } from './scheduling.ts';
import type { StopFile } from './stop-file.ts';
import type { Loop } from './timer.ts';

export interface WorkerOptions {
  id: string;
  /** Shared by the workers of one `worker start`. */
  supervisor: string;
  concurrency: number;
  /** Null: every queue. */
  queues: string[] | null;
  /** Stop by itself when nothing is left to do. */
  drain: boolean;
  openFiles: string | null;
  /** Every job gets a clean environment. */
  cleanEnv?: boolean;
  /** The worker obeys a stop file newer than this. It is the start of the supervisor, which may replace its workers later. */
  since: number | null;
}

/** Holds what a worker has once it is registered. */
export interface RegisteredWorker extends AttemptContext {
  readonly id: string;
  readonly options: WorkerOptions;
  readonly host: Host;
  readonly startedAt: number;
  /** The queues it serves, including that of the hooks. Null: every queue. */
  readonly queues: string[] | null;
  readonly stopFile: StopFile;
}

/** Holds everything that the parts of a running worker share. What is not `readonly` changes while it runs. */
export interface WorkerState extends RegisteredWorker {
  readonly loops: { work: Loop; beat: Loop; trim: Loop; prune: Loop };
  /** Each cancels its timer: for the next due job, for the next tick, for the end of the stop timeout. */
  readonly timers: { due(): void; tick(): void; stop(): void };
  /** Ends the watch on the wake file. Null: there is no watch, and the worker polls. */
  readonly unwatch: (() => void) | null;
  /** Attempts under way by their number, including adopted ones. */
  readonly live: Map<number, LiveAttempt>;
  /** Attempts that ended and wait to be settled. */
  readonly ended: Finished[];
  readonly pace: Pace;
  readonly recovery: Recovery;
  readonly scheduling: Scheduling;
  readonly pruning: Pruning;
  /** Runs heartbeats and departures one at a time: a heartbeat may adopt jobs, and the worker must not leave meanwhile. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
  readonly end: PromiseWithResolvers<void>;
  settings: Settings;
  order: StopOrder | null;
  signalledAt: number;
  /** The other workers of its supervisor are being stopped too, whether the store shows it yet or not. */
  siblingsStop: boolean;
  /** A worker with --drain found nothing left to do. */
  idle: boolean;
  /** The last heartbeat wrote that this worker is leaving, and jobs without a worker were looked for after it. */
  lookedLast: boolean;
  /** The worker has ended, or is about to: no part starts anything more. */
  over: boolean;
}
