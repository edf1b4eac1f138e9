import type { ChildProcess } from 'node:child_process';
import type { App } from '../actions/app.ts';
import { hasOrphans, presence } from '../actions/workers/workers.ts';
import { QueueError } from '../core/errors.ts';
import type { StopOrder } from '../core/signals.ts';
import { pause } from '../core/time/clock.ts';
import { processes } from '../exec/processes.ts';
import { CRASH_AT_VARIABLE } from '../exec/program.ts';
import { startSelf } from '../exec/self.ts';
import { thisHost } from '../state/host.ts';
import type { Store } from '../store/store.ts';
import { keepChildAlive, keepGuard } from './guard.ts';
import { isTemporary, withRetries } from './loops.ts';

export interface SupervisorOptions {
  id: string;
  /** The number of workers. */
  count: number;
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

/** The supervisor gives up after this many workers that ended before any worker was ready. */
const MAX_FALSE_STARTS = 5;
/** Signals within this time count as one, because programs such as `timeout` signal the process and then its group. */
const SAME_SIGNAL_MS = 200;
/** After this many workers that were started for orphaned jobs, such jobs are left to the next `worker start`. */
const MAX_CARETAKERS = 5;
/** A supervisor that has ended waits at most this long for its store. */
const UNREGISTER_LIMIT_MS = 400;

/** The state of one supervisor. Fields that are not `readonly` change while it runs. */
interface SupervisorState {
  readonly app: App;
  readonly options: SupervisorOptions;
  readonly children: Set<ChildProcess>;
  /** Functions that end the pauses before replacements. */
  readonly pauses: Set<() => void>;
  /** The order that this supervisor has passed on to its workers after a signal. */
  order: WorkerOrder | null;
  /** When the last signal that counted arrived, by the monotonic clock. */
  signalledAt: number;
  everReady: boolean;
  falseStarts: number;
  /** Whether a worker has died and none was started after it, so that a job may have no worker. */
  orphansPossible: boolean;
}

/** Keeps `count` workers running until they are done or ordered to stop. The first signal drains them, the second one stops their jobs. */
export async function supervise(app: App, options: SupervisorOptions): Promise<void> {
  const supervisor: SupervisorState = {
    app,
    options,
    children: new Set(),
    pauses: new Set(),
    order: null,
    signalledAt: Number.NEGATIVE_INFINITY,
    everReady: false,
    falseStarts: 0,
    orphansPossible: false,
  };
  listenToSignals(supervisor);
  // A replacement may be delayed by seconds. A stop order must not wait for that, and it wakes everybody.
  const unwatch = app.wakeups.onWake(async () => {
    if (supervisor.pauses.size > 0 && (await storedOrder(supervisor)) !== null) endPauses(supervisor);
  });
  const tell = (message: string): void => options.log(`cannot start workers yet: ${message}`);
  const isOver = (): boolean => supervisor.order !== null;
  try {
    const { freeSpace } = options;
    await withRetries(() => registerSupervisor(app, options.id), { freeSpace, tell, isOver });
  } catch (error) {
    unwatch?.();
    // A signal has stopped the supervisor before it could register and start a worker.
    if (isOver() && isTemporary(error)) return;
    throw error;
  }
  let releaseGuard = (): void => {};
  try {
    if (app.store.manyHosts) releaseGuard = await keepGuard(app.stateDirectory, options);
    if (supervisor.order === null) {
      await Promise.all(Array.from({ length: options.count }, () => keepWorker(supervisor)));
      await keepCaretakers(supervisor);
    }
  } finally {
    unwatch?.();
    releaseGuard();
    // If this fails or takes long, the next supervisor notices that this one is gone.
    const unregistered = app.store.unregisterSupervisor(options.id).catch(() => {});
    await Promise.race([unregistered, pause(UNREGISTER_LIMIT_MS)]);
  }
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
  endPauses(supervisor);
}

/** Keeps a worker running until it is done or ordered to stop. Throws if workers cannot start any more. */
function keepWorker(supervisor: SupervisorState): Promise<void> {
  const { options, children, pauses } = supervisor;
  let child: ChildProcess | null = null;
  let ready = false;
  return keepChildAlive({
    start() {
      ready = false;
      child = startWorkerProcess(supervisor, () => {
        ready = true;
      });
      return child;
    },
    async onEnd(how, code) {
      const pid = child?.pid ?? '?';
      if (child !== null) children.delete(child);
      child = null;
      if (code === 0) return false;
      supervisor.orphansPossible = true;
      if (await isStopping(supervisor)) {
        options.log(`worker process ${pid} exited (${how}) while stopping`);
        return false;
      }
      // If a newer version has migrated the store, workers of this version cannot start any more.
      const error = ready ? null : await newerSchemaError(supervisor);
      if (error !== null) throw error;
      if (!supervisor.everReady && ++supervisor.falseStarts >= MAX_FALSE_STARTS)
        throw new QueueError('worker-failed', `the workers exited before they were ready (${how})`);
      // The replacement of a worker that was killed at a crash point has no crash point.
      delete process.env[CRASH_AT_VARIABLE];
      options.log(`worker process ${pid} exited (${how}); starting a replacement`);
      return true;
    },
    isStillWanted: async () => !(await isStopping(supervisor)),
    pause: (ms) =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          pauses.delete(end);
          resolve();
        };
        const timer = setTimeout(end, ms);
        pauses.add(end);
      }),
  });
}

function startWorkerProcess(supervisor: SupervisorState, onReady: () => void): ChildProcess {
  const { options, children } = supervisor;
  const child = startSelf(options.workerArguments, {
    stdio: ['pipe', 'pipe', 'inherit'],
    variables: options.workerVariables,
  });
  children.add(child);
  supervisor.orphansPossible = false;
  // A write to a worker that has just died may fail, which does not matter.
  child.stdin?.on('error', () => {});
  child.stdout?.once('data', () => {
    onReady();
    supervisor.everReady = true;
    supervisor.falseStarts = 0;
  });
  return child;
}

function endPauses({ pauses }: SupervisorState): void {
  for (const end of pauses) end();
}

/** Starts a worker if no worker is left and a running job has lost its own. Repeats this if that worker dies. */
async function keepCaretakers(supervisor: SupervisorState): Promise<void> {
  for (let caretakers = 0; supervisor.orphansPossible && caretakers < MAX_CARETAKERS; caretakers++) {
    if (!(await leavesOrphans(supervisor))) return;
    delete process.env[CRASH_AT_VARIABLE];
    supervisor.options.log('a running job has lost its worker; starting another worker to take over the job');
    await keepWorker(supervisor);
  }
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
    if (found === undefined) await registerSupervisor(supervisor.app, supervisor.options.id);
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

const REGISTER_TIMEOUT_MS = 3000;

/** Waits until a supervisor can register. Throws if that takes too long, because nobody would see a delay in the background. */
export async function untilRegistrable(app: App, id: string, freeSpace: () => Promise<void>): Promise<void> {
  const tryOnce = async (): Promise<void> => {
    await registerSupervisor(app, id);
    await app.store.unregisterSupervisor(id);
  };
  try {
    await withRetries(tryOnce, { freeSpace, limitMs: REGISTER_TIMEOUT_MS });
  } catch (error) {
    // Any other error also occurs in the supervisor, which writes it to its log.
    if (isTemporary(error)) throw error;
  }
}

/** Removes the dead supervisors of this machine and registers this one. */
export async function registerSupervisor(app: App, id: string): Promise<void> {
  const host = thisHost(app.stateDirectory);
  for (const other of await app.store.supervisors()) {
    if (presence(other, host) === 'gone') await app.store.unregisterSupervisor(other.id);
  }
  await app.store.registerSupervisor({
    id,
    host,
    pid: process.pid,
    startTime: processes.startTime(process.pid) ?? '',
  });
}

/** Returns a store that is open only during each call, so that a supervisor, which rarely needs it, keeps no connection open. */
export function perCallStore(opened: Store, open: () => Promise<Store>): Store {
  const known = { epoch: opened.epoch, manyHosts: opened.manyHosts };
  const call =
    (verb: keyof Store) =>
    async (...values: unknown[]) => {
      const store = await open();
      try {
        return await (store[verb] as (...values: unknown[]) => unknown)(...values);
      } finally {
        await store.close();
      }
    };
  return new Proxy(known as Store, {
    get: (_, verb) => (verb in known ? known[verb as keyof typeof known] : call(verb as keyof Store)),
  });
}
