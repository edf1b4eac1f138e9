import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';
import type { Settings } from '../core/settings/settings.ts';
import { guardedMs } from '../core/settings/stored-settings.ts';
import { orNull } from '../core/text/language.ts';
import { countOf } from '../core/text/words.ts';
import { growingPause, pause } from '../core/time/clock.ts';
import { endProcesses, targetOf } from '../exec/kill.ts';
import { gateTime, leaseClock } from '../exec/lease-clock.ts';
import {
  guardLine,
  hasOtherGuard,
  holdGuardLine,
  noteLook,
  openGuardEnd,
  releaseGuardLine,
  removeGuardLine,
} from '../exec/lifeline.ts';
import { NO_GROUP, processes } from '../exec/processes.ts';
import { CRASH_AT_VARIABLE } from '../exec/program.ts';
import { runningCommandIn, unfinishedAttempts } from '../exec/running-commands.ts';
import { startSelf } from '../exec/self.ts';
import type { AttemptFiles } from '../state/attempt-files.ts';
import { type HostLease, readLease, writeLease } from '../state/lease.ts';
import { readRecord, takeGate } from '../state/record.ts';
import type { StateDirectory } from '../state/state-directory.ts';

/** The name that all workers inside programs have instead of the id of a supervisor. Such a program is its own guard. */
export const LIBRARY_SUPERVISOR = 'library';
/** The longest time between two looks at the lease. A suspended machine does not count it. */
const CHECK_MS = 500;
/** The time between two looks while commands are being stopped. */
const STOP_CHECK_MS = 100;
/** If an attempt cannot be stopped, it is tried again after this time. */
const RETRY_MS = 1000;

export interface GuardOptions {
  /** The path of the guard's own pipe. Null for a guard inside a program with a worker, which ends with it. */
  line: string | null;
  /** Resolves when the supervisor and all its workers are gone. */
  abandoned: Promise<unknown>;
  log(line: string): void;
}

interface Guard extends GuardOptions {
  readonly state: StateDirectory;
  /** The names of the attempts that are being stopped. */
  readonly stopping: Set<string>;
  /** The names of the attempts that are over. */
  readonly over: Set<string>;
}

/**
 * Stops all commands of this host when the lease of the host is about to end, so that they are gone when another host takes over their
 * jobs. Attempts that were claimed and have not started are kept from starting. Ends after its supervisor and workers, when no
 * command is left or another guard is there.
 */
export async function guardHost(state: StateDirectory, options: GuardOptions): Promise<void> {
  const guard: Guard = { ...options, state, stopping: new Set(), over: new Set() };
  let isAbandoned = false;
  let abandonedAt = Number.POSITIVE_INFINITY;
  const abandoned = options.abandoned.then(() => {
    isAbandoned = true;
    abandonedAt = leaseClock();
    if (options.line !== null) removeGuardLine(options.line);
  });
  for (let lease: HostLease | null = null; ; ) {
    if (options.line !== null && !isAbandoned) noteLook(options.line);
    // If somebody has removed the file, the last known lease counts.
    lease = leaseOfThisBoot(state) ?? lease;
    const leftMs = lease === null ? Number.POSITIVE_INFINITY : lease.until - leaseClock();
    if (lease !== null && leftMs <= 0) stopCommands(guard, lease.graceMs); // fault-control: guard
    if (isAbandoned && isNoLongerNeeded(guard, abandonedAt)) return;
    // A search takes some time, so it is repeated soon only while there is something to stop.
    const pauseMs =
      guard.stopping.size > 0 ? STOP_CHECK_MS : leftMs <= 0 ? CHECK_MS : Math.min(CHECK_MS, leftMs);
    await waitFor(pauseMs, isAbandoned ? null : abandoned);
  }
}

/** Guards the commands of this host inside this process, which has a worker and no supervisor. Returns a function that ends this. */
export function guardInProcess(state: StateDirectory): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  void guardHost(state, { line: null, abandoned: promise, log() {} });
  return resolve;
}

/** Returns the lease that a worker wrote last, unless that was in an earlier boot. */
function leaseOfThisBoot(state: StateDirectory): HostLease | null {
  const lease = readLease(state);
  return lease?.boot === processes.bootId() ? lease : null;
}

/** Waits for this long, or until the promise resolves. */
async function waitFor(ms: number, promise: Promise<void> | null): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([elapsed, ...(promise === null ? [] : [promise])]);
  clearTimeout(timer);
}

function isNoLongerNeeded({ state, line, stopping }: Guard, abandonedAt: number): boolean {
  if (line === null) return true;
  if (stopping.size > 0) return false;
  // Another guard may be suspended, so it counts only after its next look.
  return hasOtherGuard(state, line, abandonedAt) || runningCommandIn(state, new Set()) === null;
}

function stopCommands(guard: Guard, graceMs: number): void {
  const { state, stopping, over, log } = guard;
  const attempts = unfinishedAttempts(state, over).filter(({ name }) => !stopping.has(name));
  const started = attempts.filter((files) => readRecord(files) !== null).length;
  if (started > 0)
    log(`the lease of this host could not be renewed; stopping ${countOf(started)} before it ends`);
  for (const files of attempts) {
    stopping.add(files.name);
    stopCommand(files, graceMs).then(
      () => {
        over.add(files.name);
        stopping.delete(files.name);
      },
      (error: Error) => {
        log(`cannot stop the attempt ${files.name}: ${error.message}`);
        setTimeout(() => stopping.delete(files.name), RETRY_MS);
      },
    );
  }
}

async function stopCommand(files: AttemptFiles, graceMs: number): Promise<void> {
  const target = targetOf(files);
  const isAlive = readRecord(files) !== null || processes.find({ ...target, group: NO_GROUP }).length > 0;
  if (!isAlive && takeGate(files, gateTime())) return;
  // On a full disk the mark may be missing. The attempt is then judged by its exit code.
  orNull(() => closeSync(openSync(files.guarded, 'a', 0o600)));
  await endProcesses(targetOf(files), graceMs);
}

export interface KeptGuard {
  /** The arguments of the command that runs a guard, without the names of the state directory and the pipe. */
  guardArguments: string[];
  /** The id of the supervisor. */
  id: string;
  log(line: string): void;
}

/** Starts the guard of a supervisor, and replaces it if it dies. Returns a function that ends this. The guard then ends by itself. */
export async function keepGuard(state: StateDirectory, kept: KeptGuard): Promise<() => void> {
  const line = guardLine(state, kept.id);
  let ownEnd: number | null = null;
  let isStopped = false;
  const start = async (): Promise<ChildProcess> => {
    const guardEnd = await openGuardEnd(state, line);
    try {
      // The pipe may be a new one, because somebody has removed the old one.
      releaseGuardLine(ownEnd);
      ownEnd = holdGuardLine(line);
      const child = startSelf([...kept.guardArguments, '--state', state.path, '--line', line], {
        stdio: [guardEnd, 'ignore', 'inherit'],
        // In a session of its own, the guard gets no signal of a terminal or of a process group.
        detached: true,
        variables: { [CRASH_AT_VARIABLE]: '' },
      });
      child.unref();
      return child;
    } finally {
      closeSync(guardEnd);
    }
  };
  let first: ChildProcess | null;
  try {
    first = await start();
  } catch (error) {
    const hint = 'workers of a queue in PostgreSQL need one. Check the directory in QUEUECTL_HOME';
    throw new QueueError('worker-failed', `cannot start the guard: ${(error as Error).message}`, hint);
  }
  void keepChildAlive({
    start() {
      const child = first ?? start();
      first = null;
      return child;
    },
    onEnd(how) {
      if (!isStopped) kept.log(`the guard exited (${how}); starting another, and no job until then`);
      return !isStopped;
    },
    isStillWanted: () => !isStopped,
  });
  return () => {
    isStopped = true;
    releaseGuardLine(ownEnd);
    ownEnd = null;
  };
}

/** The first replacement of a child starts at once. The next pauses double, from the first to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** A child that ran for longer than this is replaced at once. */
const STEADY_RUN_MS = 10_000;

export interface KeptChild {
  /** Starts the child, or one that replaces it. */
  start(): ChildProcess | Promise<ChildProcess>;
  /** Is called when a child has ended, or could not be started. Returns whether it is to be replaced. */
  onEnd(how: string, code: number | null): boolean | Promise<boolean>;
  /** Is called after the pause before a replacement. Returns whether it is to be replaced still. */
  isStillWanted(): boolean | Promise<boolean>;
  /** Waits before a replacement. The supervisor has its own, because a stop order ends it. */
  pause?(ms: number): Promise<void>;
}

/** Starts a child, and replaces it when it dies, with a growing pause. Resolves when it has ended and is not replaced. */
export async function keepChildAlive(kept: KeptChild): Promise<void> {
  for (let failures = 0; ; failures++) {
    const startedAt = performance.now();
    const { code, how } = await endOf(kept);
    if (performance.now() - startedAt > STEADY_RUN_MS) failures = 0;
    if (!(await kept.onEnd(how, code))) return;
    const pauseMs = failures === 0 ? 0 : growingPause(failures - 1, FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    await (kept.pause ?? pause)(pauseMs);
    if (!(await kept.isStillWanted())) return;
  }
}

/** Starts a child. Resolves when it has ended, to its exit code, if it has one, and how it ended. */
async function endOf({ start }: KeptChild): Promise<{ code: number | null; how: string }> {
  try {
    const child = await start();
    return await new Promise((resolve, reject) => {
      child.once('exit', (code, signal) => resolve({ code, how: signal ?? `exit code ${code}` }));
      child.once('error', reject);
    });
  } catch (error) {
    return { code: null, how: (error as Error).message };
  }
}

/** The lease of a worker in a store that several hosts share, by the clock of this host. */
export interface WorkerLease {
  /** Tells whether a command may start: the guard is alive and would not stop the command at once. */
  mayStart(): boolean;
  /** Tells whether the other hosts leave the jobs of this host alone for now. */
  isHeld(): boolean;
  /**
   * Extends the lease after a heartbeat that `leaseClock` timed before it was sent, and tells the guards of this host. Returns
   * whether `mayStart` has returned false since the last one.
   */
  extend(sentAt: number, settings: Settings): boolean;
  /** Lets the guard notice that this worker is gone. */
  release(): void;
}

export function createLease(state: StateDirectory, supervisor: string): WorkerLease {
  const line = supervisor === LIBRARY_SUPERVISOR ? null : guardLine(state, supervisor);
  let until = Number.NEGATIVE_INFINITY;
  let end: number | null = null;
  let wasRefused = false;
  /** Opens the pipe anew each time, because this fails if the guard has died. */
  const hasGuard = (path: string): boolean => {
    const newEnd = holdGuardLine(path);
    releaseGuardLine(end);
    end = newEnd;
    return end !== null;
  };
  return {
    mayStart() {
      const mayStart = (line === null || hasGuard(line)) && leaseClock() < until;
      wasRefused ||= !mayStart;
      return mayStart;
    },
    isHeld: () => leaseClock() < until,
    extend(sentAt, settings) {
      const newUntil = Math.floor(sentAt + guardedMs(settings));
      writeLease(state, { boot: processes.bootId(), until: newUntil, graceMs: settings['kill-grace'] });
      until = newUntil;
      const hadBeenRefused = wasRefused;
      wasRefused = false;
      return hadBeenRefused;
    },
    release() {
      releaseGuardLine(end);
      end = null;
    },
  };
}
