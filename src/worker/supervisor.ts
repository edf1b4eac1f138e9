import type { ChildProcess } from 'node:child_process';
import type { App } from '../actions/app.ts';
import { presence } from '../actions/workers.ts';
import { QueueError } from '../core/errors.ts';
import type { StopOrder } from '../core/stop-order.ts';
import { CRASH_AT } from '../exec/environment.ts';
import { processes } from '../exec/processes.ts';
import { startSelf } from '../exec/self.ts';
import { type ProgramStart, startedBefore } from '../exec/started.ts';
import { thisHost } from '../state/host.ts';
import { onWake } from '../state/wake.ts';
import type { StopMark } from '../store/contract/workers.ts';
import { mayPass, patiently } from './patience.ts';
import { hasOrphans } from './recovery.ts';

export interface SupervisorOptions {
  id: string;
  count: number;
  start: ProgramStart;
  /** Started under nohup: a terminal that closes is nobody's order to stop. */
  ignoreHangup: boolean;
  /** The arguments of one worker process. */
  workerArguments: string[];
  log(line: string): void;
  /** Called when the disk is full. */
  relieve(): Promise<void>;
}

/** What a supervisor tells its workers, a word a line on their standard input. */
export type WorkerOrder = 'drain' | 'force';
/** What a worker says on its standard output once it looks for jobs. */
export const READY = 'ready';

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5000;
const STEADY_MS = 10_000;
/** A worker that never gets ready will not by being started for ever. */
const FALSE_STARTS = 5;
const SAME_SIGNAL_MS = 200;
const ROOM_MS = 3000;
/** A job whose every worker dies is left to the next start. */
const CARETAKERS = 5;

/** Keeps `count` workers running until they are done or told to stop. Counts the signals: the second one forces. */
export async function supervise(app: App, options: SupervisorOptions): Promise<void> {
  const children = new Set<ChildProcess>();
  const restarts = new Set<NodeJS.Timeout>();
  /** What the signals told this supervisor, and it its workers. */
  let told: WorkerOrder | null = null;
  let everReady = false;
  let falseStarts = 0;
  /** A worker has died, and none was started after it: its job may have nobody to wait for it. */
  let bereft = false;
  let caretakers = 0;
  let signalledAt = Number.NEGATIVE_INFINITY;
  const end = Promise.withResolvers<void>();

  const launch = (delayMs: number): void => {
    const startedAt = app.clock.monotonic();
    const child = startSelf(options.workerArguments, { stdio: ['pipe', 'pipe', 'inherit'] });
    children.add(child);
    bereft = false;
    let next = delayMs;
    let ready = false;
    // A pipe to a worker that has just died is no error of ours.
    child.stdin?.on('error', () => {});
    child.stdout?.once('data', () => {
      ready = true;
      everReady = true;
      falseStarts = 0;
    });
    const over = (code: number | null, signal: string | null): void => {
      if (!children.delete(child)) return;
      if (code === 0) {
        void maybeEnd();
        return;
      }
      bereft = true;
      if (app.clock.monotonic() - startedAt > STEADY_MS) next = 0;
      void replace(child, `${signal ?? `exit code ${code}`}`, next, ready);
    };
    child.once('exit', over);
    child.once('error', (error) => over(null, error.message));
  };

  const replace = async (
    child: ChildProcess,
    how: string,
    delayMs: number,
    ready: boolean,
  ): Promise<void> => {
    if (await isStopping()) {
      options.log(`worker process ${child.pid ?? '?'} exited (${how}) while stopping`);
      return maybeEnd();
    }
    // An executable that was replaced with the newer one gets ready; the old one never will.
    const newer = ready ? null : await newerSchema();
    if (newer !== null) return end.reject(newer);
    if (!everReady && ++falseStarts >= FALSE_STARTS) {
      return end.reject(new QueueError('worker-failed', `workers exit before they are ready (${how})`));
    }
    // One that was made to die at a named point is followed by one that is not.
    delete process.env[CRASH_AT];
    options.log(`worker process ${child.pid ?? '?'} exited (${how}); starting another`);
    const timer = setTimeout(() => {
      restarts.delete(timer);
      void relaunch(Math.min(LONGEST_DELAY_MS, Math.max(FIRST_DELAY_MS, delayMs * 2)));
    }, delayMs);
    restarts.add(timer);
  };

  const relaunch = async (delayMs: number): Promise<void> => {
    if (await isStopping()) await maybeEnd();
    else launch(delayMs);
  };

  /** `worker stop` is an order in the store; after it no worker is replaced. */
  const order = async (): Promise<StopOrder | null> => {
    try {
      return (await app.store.supervisors()).find((one) => one.id === options.id)?.order ?? null;
    } catch {
      return null;
    }
  };

  const isStopping = async (): Promise<boolean> => told !== null || (await order()) !== null;

  const newerSchema = async (): Promise<unknown> => {
    try {
      await app.store.check();
    } catch (error) {
      if (error instanceof QueueError && error.code === 'newer-schema') return error;
    }
    return null;
  };

  const dropRestarts = (): void => {
    for (const timer of restarts) clearTimeout(timer);
    restarts.clear();
    void maybeEnd();
  };

  const maybeEnd = async (): Promise<void> => {
    if (children.size > 0 || restarts.size > 0) return;
    if (!bereft || caretakers >= CARETAKERS || !(await leavesOrphans())) return end.resolve();
    // Two that died together have one successor.
    if (children.size > 0) return;
    caretakers++;
    delete process.env[CRASH_AT];
    options.log('a running job has lost its worker; starting another worker to wait for it');
    launch(0);
  };

  /**
   * Whether a stop would leave a job without a worker to wait for it, as only `worker stop --leave` is meant to. The store
   * then shows the order, so that the worker started for the job claims no other.
   */
  const leavesOrphans = async (): Promise<boolean> => {
    try {
      if ((await order()) === 'leave' || !(await hasOrphans(app, thisHost(app.stateDirectory)))) return false;
      if (told !== null) await app.store.order([options.id], told);
      return true;
    } catch {
      return false;
    }
  };

  const onSignal = (signal: string): void => {
    // `timeout` and its like signal the process and then its group: that is one wish, not two.
    const at = app.clock.monotonic();
    if (at - signalledAt < SAME_SIGNAL_MS) return;
    signalledAt = at;
    options.log(
      told !== null
        ? `${signal} again: stopping the running jobs and putting them back in their queues`
        : `${signal}: waiting for the running jobs to finish; another signal stops them`,
    );
    told = told === null ? 'drain' : 'force';
    for (const child of children) child.stdin?.write(`${told}\n`);
    dropRestarts();
  };

  const signals = ['SIGINT', 'SIGTERM', ...(options.ignoreHangup ? [] : ['SIGHUP'])];
  for (const signal of signals) process.on(signal, onSignal);
  // Its default action would end the runtime.
  process.on('SIGUSR1', () => {});
  // Restarts wait up to seconds, and a stop ordered meanwhile should not: they are looked after by the wake file.
  const unwatch = onWake(app.stateDirectory, async () => {
    if (restarts.size > 0 && (await order()) !== null) dropRestarts();
  });
  const tell = (message: string): void => options.log(`cannot start workers yet: ${message}`);
  const lastStop = await patiently(() => register(app, options.id), { relieve: options.relieve, tell });
  if (lastStop !== null && startedBefore(options.start, lastStop)) {
    options.log('received worker stop during startup; stopping');
    told = 'drain';
  }
  if (told === null) for (let i = 0; i < options.count; i++) launch(0);
  else end.resolve();
  try {
    await end.promise;
  } finally {
    unwatch?.();
    // Where that cannot be written now, the next supervisor sees that this one is gone.
    await app.store.unregisterSupervisor(options.id).catch(() => {});
  }
}

/**
 * Waits for a while until a supervisor could register, and fails with the reason when none could: whoever is started in the
 * background has nobody to tell, and on a full disk no log either.
 */
export async function untilRoom(app: App, id: string, relieve: () => Promise<void>): Promise<void> {
  const tryOnce = async (): Promise<void> => {
    await register(app, id);
    await app.store.unregisterSupervisor(id);
  };
  try {
    await patiently(tryOnce, { relieve, limitMs: ROOM_MS });
  } catch (error) {
    // Of anything else there is room to tell in the log.
    if (mayPass(error)) throw error;
  }
}

/** Forgets supervisors of this machine that died without a word, and adds this one. Returns the last stop of all. */
async function register(app: App, id: string): Promise<StopMark | null> {
  const host = thisHost(app.stateDirectory);
  for (const other of await app.store.supervisors()) {
    if (presence(other, host) === 'gone') await app.store.unregisterSupervisor(other.id);
  }
  return app.store.registerSupervisor({
    id,
    host,
    pid: process.pid,
    startTime: processes.startTime(process.pid) ?? '',
  });
}
