import type { ChildProcess } from 'node:child_process';
import type { App } from '../actions/app.ts';
import { QueueError } from '../core/errors.ts';
import type { StopOrder } from '../core/stop-order.ts';
import { startSelf } from '../exec/self.ts';
import { type ProgramStart, startedBefore } from '../exec/stop-mark.ts';
import { CRASH_AT_VARIABLE } from '../exec/variables.ts';
import { thisHost } from '../state/host.ts';
import { keepGuard } from './guard-keeper.ts';
import { hasOrphans } from './liveness.ts';
import { registerSupervisor } from './supervisor-registry.ts';
import { withRetries } from './temporary-errors.ts';

export interface SupervisorOptions {
  id: string;
  /** The number of workers. */
  count: number;
  /** The start of this program, which is compared with the last `worker stop`. */
  start: ProgramStart;
  /** Whether the supervisor was started under nohup, so that a closing terminal does not stop it. */
  ignoreHangup: boolean;
  workerArguments: string[];
  workerVariables: NodeJS.ProcessEnv;
  /** The arguments that start a guard, which a store needs if several hosts can use it. */
  guardArguments: string[];
  log(line: string): void;
  /** Frees space on a full disk. */
  freeSpace(): Promise<void>;
}

/** The orders that a supervisor writes to the standard input of its workers, one per line. */
export type WorkerOrder = 'drain' | 'force';
/** A worker prints this on its standard output once it looks for jobs. */
export const READY_LINE = 'ready';

/** The first replacement of a worker starts at once. The next delays double, from the first to the longest. */
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5000;
/** A worker that ran for longer than this is replaced at once. */
const STEADY_RUN_MS = 10_000;
/** The supervisor gives up after this many workers that ended before any worker was ready. */
const MAX_FALSE_STARTS = 5;
/** Signals within this time count as one, because programs such as `timeout` signal the process and then its group. */
const SAME_SIGNAL_MS = 200;
/** After this many workers that were started for orphaned jobs, such jobs are left to the next `worker start`. */
const MAX_CARETAKERS = 5;

/** The state of one supervisor. Fields that are not `readonly` change while it runs. */
interface SupervisorState {
  readonly app: App;
  readonly options: SupervisorOptions;
  readonly children: Set<ChildProcess>;
  /** The timers of delayed replacements. */
  readonly restarts: Set<NodeJS.Timeout>;
  readonly end: PromiseWithResolvers<void>;
  /** The order that this supervisor has passed on to its workers, after a signal or a stop during its start. */
  order: WorkerOrder | null;
  /** The last stop of all workers when this supervisor registered, as JSON. Null before that. */
  knownStop: string | null;
  /** When the last signal that counted arrived, by the monotonic clock. */
  signalledAt: number;
  everReady: boolean;
  falseStarts: number;
  /** Whether a worker has died and none was started after it, so that a job may have no worker. */
  orphansPossible: boolean;
  /** The number of workers that were started for orphaned jobs. */
  caretakers: number;
}

/** Keeps `count` workers running until they are done or ordered to stop. The first signal drains them, the second one stops their jobs. */
export async function supervise(app: App, options: SupervisorOptions): Promise<void> {
  const supervisor: SupervisorState = {
    app,
    options,
    children: new Set(),
    restarts: new Set(),
    end: Promise.withResolvers(),
    order: null,
    knownStop: null,
    signalledAt: Number.NEGATIVE_INFINITY,
    everReady: false,
    falseStarts: 0,
    orphansPossible: false,
    caretakers: 0,
  };
  listenToSignals(supervisor);
  // A restart may be delayed by seconds. A stop order must not wait for that, and it wakes everybody.
  const unwatch = app.signals.onWake(async () => {
    if (supervisor.restarts.size > 0 && (await storedOrder(supervisor)) !== null) dropRestarts(supervisor);
  });
  const tell = (message: string): void => options.log(`cannot start workers yet: ${message}`);
  await withRetries(() => register(supervisor, 'during startup'), { freeSpace: options.freeSpace, tell });
  let releaseGuard = (): void => {};
  try {
    if (app.store.manyHosts) releaseGuard = await keepGuard(app.stateDirectory, options);
    if (supervisor.order === null) for (let i = 0; i < options.count; i++) launch(supervisor, 0);
    else supervisor.end.resolve();
    await supervisor.end.promise;
  } finally {
    unwatch?.();
    releaseGuard();
    // If this fails, the next supervisor notices that this one is gone.
    await app.store.unregisterSupervisor(options.id).catch(() => {});
  }
}

/** Registers the supervisor. If all workers were ordered to stop meanwhile, it stops, too. `when` completes the line in the log. */
async function register(supervisor: SupervisorState, when: string): Promise<void> {
  const { app, options, knownStop } = supervisor;
  const lastStop = await registerSupervisor(app, options.id);
  supervisor.knownStop = JSON.stringify(lastStop);
  if (lastStop === null) return;
  // Clocks of two machines cannot be compared. But a stop that is new since the first registration is later than that.
  const isLater = knownStop !== null && knownStop !== supervisor.knownStop;
  if (!isLater && !startedBefore(options.start, lastStop)) return;
  options.log(`stopping because of 'queuectl worker stop' ${when}`);
  supervisor.order ??= 'drain'; // fault-control: early-stop
  for (const child of supervisor.children) child.stdin?.write(`${supervisor.order}\n`);
}

function listenToSignals(supervisor: SupervisorState): void {
  const signals = ['SIGINT', 'SIGTERM', ...(supervisor.options.ignoreHangup ? [] : ['SIGHUP'])];
  for (const signal of signals) process.on(signal, () => obeySignal(supervisor, signal));
  // The default action of SIGUSR1 would end the process.
  process.on('SIGUSR1', () => {});
}

function obeySignal(supervisor: SupervisorState, signal: string): void {
  const { app, options, children, order } = supervisor;
  const at = app.clock.monotonic();
  if (at - supervisor.signalledAt < SAME_SIGNAL_MS) return;
  supervisor.signalledAt = at;
  options.log(
    order !== null
      ? `received ${signal} again; stopping the running jobs and putting them back in their queues`
      : `received ${signal}; waiting for the running jobs to finish (another signal stops them)`,
  );
  supervisor.order = order === null ? 'drain' : 'force';
  for (const child of children) child.stdin?.write(`${supervisor.order}\n`);
  dropRestarts(supervisor);
}

/** Starts a worker process, and replaces it if it dies. `delayMs` is the delay before a replacement. */
function launch(supervisor: SupervisorState, delayMs: number): void {
  const { app, options, children } = supervisor;
  const startedAt = app.clock.monotonic();
  const child = startSelf(options.workerArguments, {
    stdio: ['pipe', 'pipe', 'inherit'],
    variables: options.workerVariables,
  });
  children.add(child);
  supervisor.orphansPossible = false;
  let ready = false;
  // A write to a worker that has just died may fail, which does not matter.
  child.stdin?.on('error', () => {});
  child.stdout?.once('data', () => {
    ready = true;
    supervisor.everReady = true;
    supervisor.falseStarts = 0;
  });
  const onEnd = async (code: number | null, signal: string | null): Promise<void> => {
    if (!children.delete(child)) return;
    if (code === 0) return endWhenDone(supervisor);
    supervisor.orphansPossible = true;
    const nextDelayMs = app.clock.monotonic() - startedAt > STEADY_RUN_MS ? 0 : delayMs;
    await replace(supervisor, child, signal ?? `exit code ${code}`, nextDelayMs, ready);
  };
  child.once('exit', onEnd);
  child.once('error', (error) => onEnd(null, error.message));
}

/** Starts a replacement after a delay, unless the supervisor is stopping. Gives up if workers cannot start any more. */
async function replace(
  supervisor: SupervisorState,
  child: ChildProcess,
  how: string,
  delayMs: number,
  ready: boolean,
): Promise<void> {
  const { options, restarts, end } = supervisor;
  if (await isStopping(supervisor)) {
    options.log(`worker process ${child.pid ?? '?'} exited (${how}) while stopping`);
    return endWhenDone(supervisor);
  }
  // If a newer version has migrated the store, workers of this version cannot start any more.
  const error = ready ? null : await newerSchemaError(supervisor);
  if (error !== null) return end.reject(error);
  if (!supervisor.everReady && ++supervisor.falseStarts >= MAX_FALSE_STARTS) {
    return end.reject(new QueueError('worker-failed', `the workers exited before they were ready (${how})`));
  }
  // The replacement of a worker that was killed at a crash point has no crash point.
  delete process.env[CRASH_AT_VARIABLE];
  options.log(`worker process ${child.pid ?? '?'} exited (${how}); starting a replacement`);
  const timer = setTimeout(async () => {
    restarts.delete(timer);
    if (await isStopping(supervisor)) await endWhenDone(supervisor);
    else launch(supervisor, Math.min(LONGEST_DELAY_MS, Math.max(FIRST_DELAY_MS, delayMs * 2)));
  }, delayMs);
  restarts.add(timer);
}

/** Cancels the delayed replacements, and ends the supervisor if no worker is left. */
function dropRestarts(supervisor: SupervisorState): void {
  for (const timer of supervisor.restarts) clearTimeout(timer);
  supervisor.restarts.clear();
  void endWhenDone(supervisor);
}

/** Ends the supervisor if no worker is left. If a running job has lost its worker, starts a worker for that job instead. */
async function endWhenDone(supervisor: SupervisorState): Promise<void> {
  const { options, children, restarts, end } = supervisor;
  if (children.size > 0 || restarts.size > 0) return;
  const mayStartCaretaker = supervisor.orphansPossible && supervisor.caretakers < MAX_CARETAKERS;
  if (!mayStartCaretaker || !(await leavesOrphans(supervisor))) return end.resolve();
  // If two workers died at the same time, only one is started for their jobs.
  if (children.size > 0) return;
  supervisor.caretakers++;
  delete process.env[CRASH_AT_VARIABLE];
  options.log('a running job has lost its worker; starting another worker to take over the job');
  launch(supervisor, 0);
}

/** Tells whether a stop would leave a job without a worker, as only `worker stop --leave` may. If so, stores this supervisor's order. */
async function leavesOrphans(supervisor: SupervisorState): Promise<boolean> {
  const { app, options } = supervisor;
  try {
    if ((await storedOrder(supervisor)) === 'leave') return false;
    if (!(await hasOrphans(app, thisHost(app.stateDirectory)))) return false;
    // The worker that is started for the job reads the order and claims no other job.
    if (supervisor.order !== null) await app.store.order([options.id], supervisor.order);
    return true;
  } catch {
    return false;
  }
}

/** Returns the stop order for this supervisor in the store. Returns null if there is none, or if the store cannot be read. */
async function storedOrder(supervisor: SupervisorState): Promise<StopOrder | null> {
  return (await registration(supervisor).catch(() => undefined))?.order ?? null;
}

/** Returns the supervisor as it is registered, or undefined if it is not. */
async function registration({ app, options }: SupervisorState) {
  return (await app.store.supervisors()).find((one) => one.id === options.id);
}

/** Tells whether the supervisor was ordered to stop. Registers it again if another machine with the same host id has removed it. */
async function isStopping(supervisor: SupervisorState): Promise<boolean> {
  if (supervisor.order !== null) return true;
  try {
    const found = await registration(supervisor);
    if (found === undefined) await register(supervisor, 'while this supervisor was not registered');
    return supervisor.order !== null || (found?.order ?? null) !== null;
  } catch {
    return false;
  }
}

/** Returns the error if a newer version of queuectl has migrated the store, or null. */
async function newerSchemaError({ app }: SupervisorState): Promise<unknown> {
  const error: unknown = await app.store.check().catch((reason) => reason);
  return error instanceof QueueError && error.code === 'newer-schema' ? error : null;
}
