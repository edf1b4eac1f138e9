import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type App, currentSettings, once } from '../actions/app.ts';
import { presence } from '../actions/workers.ts';
import { QueueError } from '../core/errors.ts';
import type { Emit } from '../core/events.ts';
import { HOOK_QUEUE } from '../core/hooks.ts';
import type { ClaimedJob } from '../core/job.ts';
import type { Settings } from '../core/settings.ts';
import { STOP_ORDERS, type StopOrder } from '../core/stop-order.ts';
import { makeLifeline } from '../exec/lifeline.ts';
import { lastAttemptIn } from '../exec/living.ts';
import { processes } from '../exec/processes.ts';
import { trimAll, trimStreams } from '../exec/trim.ts';
import { keepBallast } from '../state/ballast.ts';
import { refuseForeignProc, thisHost } from '../state/host.ts';
import { makeKey } from '../state/key.ts';
import { onWake, tellChange, wake } from '../state/wake.ts';
import type { Adoption } from './attempt.ts';
import { createClaiming } from './claiming.ts';
import { whatIsLeft } from './drain.ts';
import { createPace } from './pace.ts';
import { mayPass, patiently } from './patience.ts';
import { createPruner } from './pruner.ts';
import { hasOrphans, observerClock, recover, type Sightings } from './recovery.ts';
import { createScheduler } from './scheduler.ts';
import { keepSeal } from './seal.ts';
import { createSlots } from './slots.ts';
import { stopFileOf } from './stop-file.ts';
import { longTimeout, loop, oneAtATime } from './timer.ts';

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
  /** A stop file newer than this is obeyed: when the supervisor started, as its workers may be replaced later. */
  since: number | null;
}

export interface WorkerHandle {
  id: string;
  /** `siblings`: its supervisor's other workers are being stopped too, whether the store shows it yet or not. */
  stop(order: StopOrder, why: string, siblings?: boolean): void;
  /** Drains because this process got a stop signal, which may have been sent to its jobs as well. */
  signal(name: string): void;
  /** Resolves when the worker has stopped; rejects when it had to give up. Its jobs go on in both cases. */
  done: Promise<void>;
}

/** Without a watch on the wake file, look this often. */
const UNWATCHED_POLL_MS = 250;
const TRIM_MS = 500;

export function newWorkerId(): string {
  return randomBytes(6).toString('hex');
}

/** Resolves when the worker is registered and looks for jobs. */
export async function startWorker(given: App, options: WorkerOptions, emit: Emit): Promise<WorkerHandle> {
  refuseForeignProc();
  const { id } = options;
  const tell = (message: string): void => emit({ type: 'worker-error', workerId: id, message });
  const app = { ...given, warn: once(tell) };
  const startedAt = app.clock.now();
  const host = thisHost(app.stateDirectory);
  makeKey(app.stateDirectory);
  const queues = options.queues === null ? null : [...options.queues, HOOK_QUEUE];
  let settings: Settings = await currentSettings(app);
  const stopFile = stopFileOf(app.stateDirectory.path, process.env);
  const seen: Sightings = new Map();
  const observed = observerClock();
  const unseen = new Set<number>();
  let order: StopOrder | null = null;
  let signalledAt = Number.NEGATIVE_INFINITY;
  let siblingsStop = false;
  /** A worker with --drain found nothing left to do. */
  let idle = false;
  /** The last heartbeat wrote that this worker is leaving, and jobs without a worker were looked for after it. */
  let lookedLast = false;
  let tickTimer: () => void = () => {};
  let stopTimer: () => void = () => {};
  let over = false;
  const end = Promise.withResolvers<void>();
  /** A heartbeat may take over jobs, and whoever leaves must not do so in the middle of it. */
  const alone = oneAtATime();

  const trimEverything = (): Promise<void> => trimAll(app.stateDirectory, settings['output-limit']);
  const register = (): Promise<void> =>
    app.store.register(
      {
        ...{ id, supervisor: options.supervisor, pid: process.pid, host, hostname: hostname(), startedAt },
        ...{ concurrency: options.concurrency, queues: options.queues },
        startTime: processes.startTime(process.pid) ?? '',
      },
      lastAttemptIn(app.stateDirectory, app.store.epoch),
    );
  // On a disk that a command has filled, nothing else could be written.
  await patiently(register, { relieve: trimEverything, tell });
  await patiently(() => keepSeal(app), { relieve: trimEverything, tell });
  tellChange(app.stateDirectory);
  const lifeline = await makeLifeline(app.stateDirectory, id);

  const pace = createPace(() => work.now(), app.clock.monotonic);
  const slots = createSlots(
    {
      ...{ app, emit, lifeline },
      user: { umask: process.umask(), openFiles: options.openFiles, cleanEnv: options.cleanEnv ?? false },
      settings: () => settings,
      isStopping: () => order !== null,
      signalledAt: () => signalledAt,
    },
    {
      onEnd(ended, job) {
        if (ended === null) emit({ type: 'claim-lost', job });
        else if (ended.outcome.why === 'never-started' && !ended.adopted) pace.noRoom(slots.own);
        // Not at once: refilling a slot inside an exit event would starve the timers.
        setImmediate(work.now);
      },
      onError: (error) => fail(error),
    },
  );

  /** Every loop runs under this: what may pass is tried again later, anything else ends the worker and not its jobs. */
  const guarded = (work: () => Promise<void>) => async (): Promise<void> => {
    if (over) return;
    try {
      await work();
    } catch (error) {
      if (!mayPass(error)) return fail(error);
      emit({ type: 'worker-error', workerId: id, message: (error as Error).message });
      await trimEverything().catch(fail);
      if (order !== null) await alone(leaveWithoutStore).catch(fail);
      pace.slowDown();
    }
  };

  const freeSlots = (): number =>
    order !== null || pace.paused ? 0 : pace.slots(options.concurrency) - slots.own;

  const claiming = createClaiming({
    ...{ app, emit, workerId: id, queues, slots, pace, freeSlots },
    isOver: () => over,
    onDue: () => work.now(),
  });

  const scheduler = createScheduler(app, emit, id);

  /** Enqueues the ticks that have come, busy or not. True: there is a job more. */
  const tick = async (): Promise<boolean> => {
    if (over || order !== null) return false;
    const { enqueued, nextAt } = await scheduler.runOnce();
    tickTimer();
    if (nextAt !== null) tickTimer = longTimeout(work.now, Math.max(0, nextAt - app.clock.now()));
    // Those who saw the tick too late look again: this worker may be busy, or not serve the queue.
    if (enqueued > 0) wake(app.stateDirectory);
    return enqueued > 0;
  };

  const pump = async (): Promise<void> => {
    do await claiming.settleAndFill();
    while (await tick());
    if (order !== null || (options.drain && slots.running === 0)) await alone(maybeEnd);
    else idle = false;
  };

  const look = async (): Promise<void> => {
    const told = await app.store.ordered(id);
    if (told !== null) stop(told, 'worker stop');
    for (const { attempt, reason } of await app.store.endings(id)) slots.end(attempt, reason);
    if (order === null && stopFile.asks(options.since ?? startedAt)) stop('drain', '.stop_workers');
    await pump();
  };

  const heartbeat = async (): Promise<void> => {
    if (over) return;
    const leaving = order !== null || idle;
    lookedLast &&= leaving;
    const answer = await app.store.beat(id, leaving, app.clock.now());
    if (answer === null) throw new QueueError('worker-failed', `worker ${id} is no longer registered`);
    settings = await currentSettings(app);
    keepBallast(app.stateDirectory);
    makeKey(app.stateDirectory);
    await keepSeal(app);
    const adopt = (job: ClaimedJob, how: Adoption): void => {
      emit({ type: 'attempt-adopted', job });
      slots.launch(job, how);
      if (order === 'force') slots.endAll('stopped');
    };
    const now = observed(app.clock.monotonic(), settings.lease);
    const observer = { workerId: id, host, leaseMs: settings.lease, seen, now };
    if ((await recover(app, { ...observer, adopt, unseen: tellUnseen })) > 0) tellChange(app.stateDirectory);
    lookedLast = leaving;
    if (answer.order !== null) stop(answer.order, 'worker stop');
    if (leaving) work.now();
  };

  /** Once for each: a look comes with every heartbeat. */
  const tellUnseen = (job: ClaimedJob): void => {
    if (!unseen.has(job.claim.attempt)) emit({ type: 'attempt-unseen', job });
    unseen.add(job.claim.attempt);
  };

  const trim = async (): Promise<void> => {
    await Promise.all(slots.places().map((place) => trimStreams(place.directory, settings['output-limit'])));
  };

  const stop = (wanted: StopOrder, why: string, siblings = false): void => {
    siblingsStop ||= siblings;
    if (over || (order !== null && STOP_ORDERS.indexOf(order) >= STOP_ORDERS.indexOf(wanted))) return;
    order = wanted;
    emit({ type: 'worker-draining', workerId: id, running: slots.running, why });
    const { 'stop-timeout': limit } = settings;
    if (wanted === 'drain' && limit !== null)
      stopTimer = longTimeout(() => stop('force', 'stop-timeout'), limit);
    if (wanted === 'force') slots.endAll('stopped');
    beat.now();
    work.now();
  };

  /**
   * Leaves when no job would be without a worker for it. Others may have handed over theirs to this one as long as the
   * store did not show that it leaves: so it shows it, looks for such jobs once more, and leaves when it holds none.
   */
  const maybeEnd = async (): Promise<void> => {
    if (over || slots.waiting > 0) return;
    if (order === 'leave') return finishUp(null);
    let left: string | null = null;
    if (order === null) {
      left = options.drain && slots.running === 0 ? await whatIsLeft(app, queues) : null;
      idle = left !== null;
      if (!idle) return;
    }
    if (!lookedLast) return beat.now();
    if (slots.running === 0 || (order === 'drain' && slots.own === 0 && (await handOver())))
      await finishUp(left);
  };

  /** Gives adopted jobs to a worker of this machine that goes on. False: there is none. */
  const handOver = async (): Promise<boolean> => {
    const heirs = (await app.store.workers()).filter(
      (one) =>
        !(siblingsStop && one.supervisor === options.supervisor) &&
        one.id !== id &&
        presence(one, host) === 'alive',
    );
    return (
      heirs.length > 0 &&
      app.store.handOver(
        id,
        heirs.map((one) => one.id),
      )
    );
  };

  const finishUp = async (left: string | null): Promise<void> => {
    if (over) return;
    over = true;
    quiet();
    try {
      await app.store.unregister(id);
      tellChange(app.stateDirectory);
      if ((await app.store.workers()).length === 0) stopFile.remove();
    } catch (error) {
      // What may pass is not waited for: the others see by themselves that this one is gone.
      if (!mayPass(error)) return end.reject(error);
    }
    emit({ type: 'worker-stopped', workerId: id, left });
    end.resolve();
  };

  const orphansSeen = (): Promise<boolean> => hasOrphans(app, host).catch(() => false);

  /** What ended is on disk, and the next worker will settle it: a stop need not wait for the store. Reading is possible. */
  const leaveWithoutStore = async (): Promise<void> => {
    if (over || slots.running > 0 || (order === 'drain' && (await orphansSeen()))) return;
    over = true;
    quiet();
    end.resolve();
  };

  const fail = (error: unknown): void => {
    if (over) return;
    over = true;
    quiet();
    end.reject(error);
  };

  const quiet = (): void => {
    work.stop();
    beat.stop();
    trimmer.stop();
    pruning.stop();
    claiming.stop();
    tickTimer();
    stopTimer();
    unwatch?.();
  };

  const unwatch = onWake(app.stateDirectory, () => work.now());
  const pollMs = (): number =>
    unwatch === null ? Math.min(UNWATCHED_POLL_MS, settings['poll-interval']) : settings['poll-interval'];
  const work = loop(guarded(look), pollMs);
  const beat = loop(
    guarded(() => alone(heartbeat)),
    () => settings['heartbeat-interval'],
  );
  const trimmer = loop(guarded(trim), () => TRIM_MS);
  const pruner = createPruner(app, id, () => settings, emit);
  const pruning = loop(guarded(pruner.runOnce), pruner.delayMs);
  emit({
    type: 'worker-ready',
    workerId: id,
    pid: process.pid,
    concurrency: options.concurrency,
    queues: options.queues,
  });
  beat.now();
  work.now();
  pruning.now();
  const signal = (name: string): void => {
    // The first one is the stop that may have reached the jobs at the same moment.
    if (signalledAt === Number.NEGATIVE_INFINITY) signalledAt = app.clock.monotonic();
    stop('drain', name, true);
  };
  return { id, stop, signal, done: end.promise };
}
