import { randomBytes } from 'node:crypto';
import type { App } from '../actions/app.ts';
import { formatDuration } from '../core/duration.ts';
import type { Emit } from '../core/events.ts';
import type { StopOrder } from '../core/stop-order.ts';
import { guardedMs } from '../core/stored-settings.ts';
import { trimAllAttempts } from '../exec/trim.ts';
import { refuseForeignProc } from '../state/host.ts';
import { settleAndClaim } from './claiming.ts';
import { fail } from './closing.ts';
import { heartbeat } from './heartbeat.ts';
import { leaveWhenDone, leaveWithoutStore } from './leaving.ts';
import { look } from './looking.ts';
import { createLookout } from './lookout.ts';
import { noLostAnswers, takeUpOwnClaims } from './lost-answers.ts';
import { newPruning, prune, pruneDelayMs } from './pruning.ts';
import { newRecovery } from './recovery.ts';
import { register } from './registering.ts';
import { fireSchedules, newScheduling } from './scheduling.ts';
import { createSharing, shareDelayMs, shareOutput } from './sharing.ts';
import { batchingOf } from './slots.ts';
import type { RegisteredWorker, WorkerOptions, WorkerState } from './state.ts';
import { drainOnSignal, stop } from './stopping.ts';
import { isTemporary, isUnreachable } from './temporary-errors.ts';
import { createThrottle } from './throttle.ts';
import { createLoop, type Loop, onceAfter, oneAtATime } from './timer.ts';
import { trimDelayMs, trimRunning } from './trimming.ts';
import { createTurns } from './turns.ts';
import { createWakeUps } from './wake-ups.ts';

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

/** Starts a worker. Resolves when it is registered and begins to look for jobs. */
export async function startWorker(app: App, options: WorkerOptions, emit: Emit): Promise<WorkerHandle> {
  refuseForeignProc();
  const worker = createState(await register(app, options, emit));
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
  const guardedLoop = (runOnce: (worker: WorkerState) => Promise<void>, delayMs: () => number): Loop =>
    createLoop(() => guard(worker, runOnce), delayMs);
  const worker: WorkerState = {
    ...registered,
    loops: {
      work: guardedLoop(workOnce, () => pollMs(worker)),
      beat: guardedLoop(
        () => worker.exclusively(() => heartbeat(worker)),
        () => worker.settings['heartbeat-interval'],
      ),
      trim: guardedLoop(trimRunning, () => trimDelayMs(worker)),
      share: guardedLoop(shareOutput, () => shareDelayMs(worker)),
      prune: guardedLoop(prune, () => pruneDelayMs(worker)),
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
    siblingsStop: false,
    mayStart: true,
    isOutageReported: false,
    idle: false,
    lastCheckDone: false,
    over: false,
  };
  return worker;
}

/** Runs one round: obeys orders, settles and claims jobs, fires schedules, and leaves if the worker is to stop. */
async function workOnce(worker: WorkerState): Promise<void> {
  worker.mayStart = worker.lease?.mayStart() ?? true;
  let isJobDue = worker.lookout.isDue() ? await look(worker) : null;
  // A heartbeat must not adopt a job meanwhile, because the job would look like one with a lost answer.
  if (worker.lostAnswers.possible) await worker.exclusively(() => takeUpOwnClaims(worker));
  do {
    await settleAndClaim(worker, isJobDue);
    isJobDue = null;
  } while (await fireSchedules(worker));
  if (worker.order !== null || (worker.options.drain && worker.live.size === 0))
    await worker.exclusively(() => leaveWhenDone(worker));
  else worker.idle = false;
}

/** Starts a round that looks. */
function lookNow({ lookout, loops }: WorkerState): void {
  lookout.wake();
  loops.work.runNow();
}

/** Runs one round of a loop. A temporary error slows the worker down. Any other error ends the worker, but not its jobs. */
async function guard(worker: WorkerState, runOnce: (worker: WorkerState) => Promise<void>): Promise<void> {
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
