import { randomBytes } from 'node:crypto';
import { type App, currentSettings, withoutRepeats } from '../actions/app.ts';
import { QueueError } from '../core/errors.ts';
import { HOOK_QUEUE } from '../core/jobs/hooks.ts';
import type { Emit } from '../core/rules/events.ts';
import { guardedMs } from '../core/settings/stored-settings.ts';
import type { StopOrder } from '../core/signals.ts';
import { systemClock } from '../core/time/clock.ts';
import { formatDuration } from '../core/time/duration.ts';
import { leaseClock } from '../exec/lease-clock.ts';
import { makeLifeline } from '../exec/lifeline.ts';
import { processes } from '../exec/processes.ts';
import { lastAttemptIn } from '../exec/running-commands.ts';
import { trimAllAttempts } from '../exec/trim.ts';
import { hostName } from '../files/read.ts';
import { makeBallast } from '../state/ballast.ts';
import { refuseForeignProc, thisHost } from '../state/host.ts';
import { makeKey } from '../state/key.ts';
import type { NewWorker } from '../store/contract/workers.ts';
import { createLease } from './guard.ts';
import {
  createLoop,
  isTemporary,
  isUnreachable,
  type Loop,
  onceAfter,
  oneAtATime,
  withRetries,
} from './loops.ts';
import { createSharing, shareDelayMs, shareOutput, trimDelayMs, trimRunning } from './output.ts';
import { newPruning, prune, pruneDelayMs } from './pruning.ts';
import { endStrays, newRecovery, noLostAnswers, recover } from './recovery.ts';
import { createLookout, createWakeUps, saveSpace, workOnce } from './rounds.ts';
import { newScheduling } from './schedules.ts';
import { batchingOf, createThrottle, createTurns } from './slots.ts';
import { fail, type RegisteredWorker, type WorkerOptions, type WorkerState } from './state.ts';
import { drainOnSignal, leaveWithoutStore, stop, stopFileOf } from './stopping.ts';

export interface WorkerHandle {
  id: string;
  /** Stops the worker. `siblingsStopToo` tells that the other workers of its supervisor are being stopped, too. */
  stop(order: StopOrder, why: string, siblingsStopToo?: boolean): void;
  /** Drains because this process got a stop signal, which may have been sent to its jobs as well. */
  drainOnSignal(name: string): void;
  /** Resolves when the worker has stopped, and rejects if it failed. Jobs that still run then (after `leave`, a handover or a failure) continue. */
  done: Promise<void>;
}

/** The longest polling interval if wake-ups cannot be received. */
const UNWATCHED_POLL_MS = 250;

export function newWorkerId(): string {
  return randomBytes(6).toString('hex');
}

/**
 * Starts a worker. Resolves when it is registered and begins to look for jobs. If that has to wait and `isOver` returns true, throws
 * the temporary error.
 */
export async function startWorker(
  app: App,
  options: WorkerOptions,
  emit: Emit,
  isOver?: () => boolean,
): Promise<WorkerHandle> {
  refuseForeignProc();
  const worker = createState(await register(app, options, emit, isOver));
  const { id, loops } = worker;
  const { concurrency, queues } = options;
  emit({ type: 'worker-ready', workerId: id, pid: process.pid, concurrency, queues });
  loops.beat.runNow();
  loops.work.runNow();
  loops.prune.runNow();
  return {
    id,
    stop: (order, why, siblingsStopToo) => stop(worker, order, why, siblingsStopToo),
    drainOnSignal: (name) => drainOnSignal(worker, name),
    done: worker.end.promise,
  };
}

function createState(registered: RegisteredWorker): WorkerState {
  const { app } = registered;
  const { concurrency } = registered.options;
  const loopOf = (runOnce: (worker: WorkerState) => Promise<void>, delayMs: () => number): Loop =>
    createLoop(() => runRound(worker, runOnce), delayMs);
  const worker: WorkerState = {
    ...registered,
    loops: {
      work: loopOf(workOnce, () => pollMs(worker)),
      beat: loopOf(
        () => worker.exclusively(() => heartbeat(worker)),
        () => worker.settings['heartbeat-interval'],
      ),
      trim: loopOf(trimRunning, () => trimDelayMs(worker)),
      share: loopOf(shareOutput, () => shareDelayMs(worker)),
      prune: loopOf(prune, () => pruneDelayMs(worker)),
    },
    timers: { due() {}, tick() {}, stop() {} },
    wakeUps: createWakeUps(app, {
      otherWorkers: () => worker.recovery.otherWorkers,
      look: () => lookNow(worker),
    }),
    lookout: createLookout(() => worker.loops.work.runNow(), app.clock.monotonic),
    live: new Map(),
    ended: [],
    turns: createTurns(concurrency, batchingOf(app)),
    settleAfter: onceAfter(() => worker.loops.work.runNow()),
    throttle: createThrottle(() => worker.loops.work.runNow(), app.clock.monotonic),
    recovery: newRecovery(),
    lostAnswers: noLostAnswers(),
    scheduling: newScheduling(),
    pruning: newPruning(),
    sharing: createSharing(app),
    exclusively: oneAtATime(),
    end: Promise.withResolvers(),
    leftRoomFor: null,
    leavesRoomSince: 0,
    siblingsStop: false,
    mayStart: true,
    savesSpace: false,
    isOutageReported: false,
    idle: false,
    lastCheckDone: false,
    over: false,
  };
  return worker;
}

/** Starts a round in which the worker looks for jobs and orders. */
function lookNow({ lookout, loops }: WorkerState): void {
  lookout.wake();
  loops.work.runNow();
}

/** Runs one round of a loop. A temporary error slows the worker down. Any other error ends the worker, but not its jobs. */
async function runRound(worker: WorkerState, runOnce: (worker: WorkerState) => Promise<void>): Promise<void> {
  if (worker.over) return;
  const giveUp = (error: unknown): void => fail(worker, error);
  try {
    await runOnce(worker);
  } catch (error) {
    if (!isTemporary(error)) return giveUp(error);
    if (isUnreachable(error)) reportOutage(worker, error as Error);
    else {
      worker.emit({ type: 'worker-error', workerId: worker.id, message: (error as Error).message });
      // The output of a running command may have filled the disk.
      await trimAllAttempts(worker.app.stateDirectory, worker.settings['output-limit']).catch(giveUp);
    }
    if (worker.order !== null) await worker.exclusively(() => leaveWithoutStore(worker)).catch(giveUp);
    worker.throttle.slowDown();
  }
}

/** Reports once that the store cannot be reached, until the next heartbeat has reached it. */
function reportOutage(worker: WorkerState, { message }: Error): void {
  // A server that took over may have lost a result. This worker then holds the job again, and nobody else would run it.
  worker.lostAnswers.possible = true; // fault-control: lost-results
  if (worker.isOutageReported) return;
  worker.isOutageReported = true;
  const stopsAfter = worker.lease === null ? null : formatDuration(guardedMs(worker.settings));
  const more = 'running jobs continue, and their results are stored when it can be reached again';
  const limit = stopsAfter === null ? '' : `, unless that takes longer than ${stopsAfter}`;
  worker.emit({ type: 'worker-error', workerId: worker.id, message: `${message}; ${more}${limit}` });
}

function pollMs({ wakeUps, settings }: WorkerState): number {
  const limitMs = wakeUps.canReceive ? Number.POSITIVE_INFINITY : UNWATCHED_POLL_MS;
  return Math.min(limitMs, settings['poll-interval']); // fault-control: poll
}

/**
 * Registers a worker in the store and creates the files that it needs. Waits as long as temporary errors prevent that and `isOver`
 * returns false.
 */
export async function register(
  base: App,
  options: WorkerOptions,
  emit: Emit,
  isOver: () => boolean = () => false,
): Promise<RegisteredWorker> {
  const { id } = options;
  const tell = (message: string): void => emit({ type: 'worker-error', workerId: id, message });
  const app = { ...base, warn: withoutRepeats(tell) };
  const startedAt = app.clock.now();
  const host = thisHost(app.stateDirectory);
  makeKey(app.stateDirectory);
  const settings = await withRetries(() => currentSettings(app), { tell, isOver });
  const stopFile = stopFileOf(app.stateDirectory, process.env, options.stopFileSince ?? systemClock.now());
  // The output of a running command may have filled the disk.
  const freeSpace = (): Promise<void> => trimAllAttempts(app.stateDirectory, settings['output-limit']);
  const retries = { freeSpace, tell, isOver };
  const leaseMs = settings.lease;
  const hasLease = app.store.manyHosts === true;
  // The lease counts from the first try, because that may have succeeded although its answer got lost.
  const sentAt = hasLease ? leaseClock() : 0;
  await withRetries(() => addToStore(app, options, { host, startedAt, leaseMs }), retries);
  const lease = hasLease ? createLease(app.stateDirectory, options.supervisor) : null;
  if (lease !== null) {
    await withRetries(async () => lease.extend(sentAt, settings), retries);
    endStrays(app, settings['kill-grace']).catch((error: Error) => tell(error.message));
  }
  app.wakeups.tellChange();
  return {
    id,
    app,
    options,
    emit,
    host,
    settings,
    stopFile,
    lease,
    queues: options.queues === null ? null : [...options.queues, HOOK_QUEUE],
    lifeline: await makeLifeline(app.stateDirectory, id),
    userSettings: {
      umask: process.umask(),
      openFileLimit: options.openFileLimit,
      cleanEnv: options.cleanEnv ?? false,
    },
    order: null,
    recentSignals: 0,
  };
}

function addToStore(
  app: App,
  options: WorkerOptions,
  more: Pick<NewWorker, 'host' | 'startedAt' | 'leaseMs'>,
): Promise<void> {
  const { id, supervisor, concurrency, queues } = options;
  const { pid } = process;
  const startTime = processes.startTime(pid) ?? '';
  return app.store.register(
    { ...more, id, supervisor, pid, hostname: hostName(), concurrency, queues, startTime },
    lastAttemptIn(app.stateDirectory, app.store.epoch),
  );
}

/**
 * Renews the heartbeat, reads the settings and the stop order, restores missing files of the state directory, and takes over
 * the jobs of workers that are gone. Throws if this worker is no longer registered, or if its lease is over.
 */
async function heartbeat(worker: WorkerState): Promise<void> {
  if (worker.over) return;
  const { app, id, lease, settings } = worker;
  const leaving = worker.order !== null || worker.idle;
  worker.lastCheckDone &&= leaving;
  const sentAt = lease === null ? 0 : leaseClock();
  const answer = await app.store.beat(id, leaving, settings.lease, app.clock.now());
  worker.isOutageReported = false;
  if (answer === null) {
    const more = lease === null ? '' : ', or its lease is over';
    throw new QueueError('worker-failed', `worker ${id} is no longer registered${more}`);
  }
  if (lease?.extend(sentAt, settings)) worker.loops.work.runNow();
  worker.settings = await currentSettings(app, answer.settings);
  // The output of a command may have filled the disk.
  if (worker.savesSpace) await trimAllAttempts(app.stateDirectory, worker.settings['output-limit']);
  makeBallast(app.stateDirectory);
  if (worker.savesSpace && !saveSpace(worker)) worker.loops.work.runNow();
  makeKey(app.stateDirectory);
  await recover(worker);
  worker.lastCheckDone = leaving;
  if (answer.order !== null) stop(worker, answer.order, 'worker stop');
  if (leaving) worker.loops.work.runNow();
}
