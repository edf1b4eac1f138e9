import { realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { App } from '../actions/app.ts';
import { countJobs } from '../actions/jobs/jobs.ts';
import { hasOrphans, presence } from '../actions/workers/workers.ts';
import { WAITING_STATES } from '../core/jobs/waiting-reason.ts';
import { STOP_ORDERS, type StopOrder } from '../core/signals.ts';
import { orNull } from '../core/text/language.ts';
import { countOf } from '../core/text/words.ts';
import { pause } from '../core/time/clock.ts';
import { signalAttempt, targetOf } from '../exec/kill.ts';
import { isSameBoot } from '../state/host.ts';
import { type StateDirectory, stateBeside } from '../state/state-directory.ts';
import type { Agenda, Wish } from '../store/contract/claims.ts';
import { storeLocation } from '../store/location.ts';
import { isTemporary, longTimeout } from './loops.ts';
import { takeUpOwnClaims } from './recovery.ts';
import { endAllAttempts } from './slots.ts';
import { close, type WorkerState } from './state.ts';

/** The signals of one stop reach a worker, a frame and its command within this time of each other. */
const STOP_SPREAD_MS = 500; // fault-control: stop-spread
const STEP_MS = 10;

/** Obeys the stop order in the store, the wishes for jobs of this worker, and the stop file. */
export async function obeyOrders(worker: WorkerState, { order, wishes }: Agenda): Promise<void> {
  if (order !== null) stop(worker, order, 'worker stop');
  for (const wish of wishes) await fulfil(worker, wish);
  if (worker.order === null && worker.stopFile.isNew()) stop(worker, 'drain', '.stop_workers');
}

/** Ends an attempt, or signals its processes. A signal is sent again after the next look if the command has not started yet. */
async function fulfil({ app, live }: WorkerState, { claim, end, signal }: Wish): Promise<void> {
  const attempt = live.get(claim.attempt);
  if (attempt === undefined) return;
  if (end !== null) attempt.end(end);
  else if (signal !== null && signalAttempt(targetOf(attempt.files), signal) > 0)
    await app.store.signalSent(claim, signal);
}

/** Follows a stop order, unless one at least as strong was given before. `siblingsStopToo` is true if the whole supervisor is stopped. */
export function stop(worker: WorkerState, order: StopOrder, why: string, siblingsStopToo = false): void {
  worker.siblingsStop ||= siblingsStopToo;
  const { order: current } = worker;
  if (worker.over || (current !== null && STOP_ORDERS.indexOf(current) >= STOP_ORDERS.indexOf(order))) return;
  worker.order = order;
  worker.emit({ type: 'worker-draining', workerId: worker.id, running: worker.live.size, why });
  const { 'stop-timeout': timeoutMs } = worker.settings;
  if (order === 'drain' && timeoutMs !== null)
    worker.timers.stop = longTimeout(() => stop(worker, 'force', 'stop-timeout'), timeoutMs);
  worker.turns.giveBackAll();
  if (order === 'force') endAllAttempts(worker, 'stopped');
  worker.loops.beat.runNow();
  worker.loops.work.runNow();
}

/** Drains the worker after a signal to it or to its supervisor. Its jobs may have got the same signal at about that time. */
export function drainOnSignal(worker: WorkerState, name: string): void {
  noteSignal(worker);
  stop(worker, 'drain', name, true);
}

/** Counts a signal as recent for STOP_SPREAD_MS. On a busy machine this takes longer, because each step waits for the processor. */
function noteSignal(worker: WorkerState): void {
  let steps = Math.ceil(STOP_SPREAD_MS / STEP_MS);
  const step = (): void => {
    if (steps-- > 0) setTimeout(step, STEP_MS).unref();
    else worker.recentSignals--;
  };
  worker.recentSignals++;
  step();
}

const FILE_NAME = '.stop_workers';

/** A file that requests all workers to drain. Anyone who can create the file can stop them, even without queuectl. */
export interface StopFile {
  /** Tells whether the file exists and is newer than `since`. An older file was meant for earlier workers. */
  isNew(): boolean;
  remove(): void;
}

/** Returns the stop file of a store. `since` is a time by the clock of this host, like that of the file. The file may be in the state directory or, for the default store, beside the database. */
export function stopFileOf(state: StateDirectory, environment: NodeJS.ProcessEnv, since: number): StopFile {
  const { QUEUECTL_HOME } = environment;
  const defaultDatabase = storeLocation(undefined, QUEUECTL_HOME ? { QUEUECTL_HOME } : {});
  const databaseDirectories = isStateOf(state, defaultDatabase) ? [dirname(defaultDatabase)] : [];
  const files = [state.path, ...databaseDirectories].map((directory) => join(directory, FILE_NAME));
  return {
    isNew: () => files.some((file) => (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > since),
    remove() {
      for (const file of files) rmSync(file, { force: true });
    },
  };
}

function isStateOf({ path }: StateDirectory, database: string): boolean {
  return orNull(() => stateBeside(realpathSync(database)).path === path) ?? false;
}

/** A worker that stops after an error of its store waits at most this long for an answer. */
const ANSWER_LIMIT_MS = 400;

/**
 * Ends a worker that has a stop order, or that drains and is idle, if no job would be left without a worker. The order `leave`
 * ends it in any case. Other workers may hand over jobs to it until the store shows that it is leaving. So a heartbeat first
 * stores that and checks once more for such jobs.
 */
export async function leaveWhenDone(worker: WorkerState): Promise<void> {
  if (worker.over || worker.ended.length > 0) return;
  if (worker.order === 'leave') return unregister(worker, null);
  let jobsLeft: string | null = null;
  if (worker.order === null) {
    const mayBeIdle = worker.options.drain && worker.live.size === 0;
    jobsLeft = mayBeIdle ? await describeJobsLeft(worker.app, worker.queues) : null;
    worker.idle = jobsLeft !== null;
    if (!worker.idle) return;
  }
  if (!worker.lastCheckDone) return worker.loops.beat.runNow(); // fault-control: last-look
  if (
    worker.live.size === 0 ||
    (worker.order === 'drain' && worker.turns.running === 0 && (await handOver(worker)))
  )
    await unregister(worker, jobsLeft);
}

/** Hands adopted jobs over to the other workers of this machine that keep running. Returns false if there are none. */
async function handOver(worker: WorkerState): Promise<boolean> {
  const { app, id, host, options } = worker;
  const heirs = (await app.store.workers()).filter(
    (one) =>
      !(worker.siblingsStop && one.supervisor === options.supervisor) && // fault-control: siblings
      one.id !== id &&
      presence(one, host) === 'alive',
  );
  const ids = heirs.map((one) => one.id);
  return ids.length > 0 && app.store.handOver(id, ids);
}

/** Ends the worker, and unregisters it unless it still holds jobs. The last worker of this host also removes the stop file. */
async function unregister(worker: WorkerState, jobsLeft: string | null): Promise<void> {
  if (worker.over) return;
  close(worker);
  const { app, id, host, stopFile } = worker;
  try {
    await app.store.unregister(id); // fault-control: unregister
    app.wakeups.tellChange();
    // Other workers with --drain may have waited only for the last jobs of this one.
    if (worker.order === null) app.wakeups.wake();
    const others = await app.store.workers();
    if (!others.some((one) => isSameBoot(one.host, host))) stopFile.remove();
  } catch (error) {
    // A temporary error is ignored, because the other workers notice that this one is gone.
    if (!isTemporary(error)) return worker.end.reject(error);
  }
  worker.emit({ type: 'worker-stopped', workerId: id, left: jobsLeft });
  worker.end.resolve();
}

/**
 * Ends a worker without running attempts if the store cannot be written. The next worker settles its attempts by their exit codes on
 * disk. Other hosts cannot read them and run the jobs again, so a drain waits for the store as long as the lease lasts.
 */
export async function leaveWithoutStore(worker: WorkerState): Promise<void> {
  if (worker.over || worker.live.size > 0) return;
  if (worker.order === 'drain' && worker.ended.length > 0 && worker.lease?.isHeld()) return;
  if (!(await answersSoon(worker))) return leave(worker);
  // A job whose claim was committed although it failed is put back, if the store works again.
  if (worker.lostAnswers.possible && (await takeUpOwnClaims(worker).catch(() => 0)) > 0) return;
  // The store may still be readable. With a drain order, a job must not be left without a worker.
  if (worker.order === 'drain' && (await hasOrphans(worker.app, worker.host).catch(() => false))) return;
  leave(worker);
}

function leave(worker: WorkerState): void {
  close(worker);
  worker.end.resolve();
}

/** Tells whether the store answers. A server that is away would delay the stop by a second with every question. */
function answersSoon({ app, id }: WorkerState): Promise<boolean> {
  const answer = app.store.mine(id).then(
    () => true,
    () => false,
  );
  return Promise.race([answer, pause(ANSWER_LIMIT_MS).then(() => false)]);
}

const MAX_LISTED_IDS = 5;

/**
 * Describes the unfinished jobs of these queues, or of all queues for null. Returns '' if there are none. Returns null while
 * one of them is running or, in a queue that is not paused, due or waiting for a retry.
 */
async function describeJobsLeft(app: App, queues: string[] | null): Promise<string | null> {
  if ((await app.store.busyQueues(app.clock.now(), queues)).length > 0) return null;
  const ids: string[] = [];
  let total = 0;
  for (const queue of queues ?? [undefined]) {
    const filter = { ...(queue === undefined ? {} : { queue }), states: WAITING_STATES };
    total += await countJobs(app, filter);
    for (const job of await app.store.list(filter, { limit: MAX_LISTED_IDS })) ids.push(job.id);
  }
  if (total === 0) return '';
  const named = ids.slice(0, MAX_LISTED_IDS).join(', ') + (total > MAX_LISTED_IDS ? ', …' : '');
  return `${countOf(total)} ${total === 1 ? 'remains' : 'remain'} (due later, held, blocked or in a paused queue): ${named}`;
}
