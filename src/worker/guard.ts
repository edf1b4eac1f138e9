import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';
import { orNull } from '../core/text/language.ts';
import { countOf } from '../core/text/words.ts';
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
import { type HostLease, readLease } from '../state/lease.ts';
import { readRecord, takeGate } from '../state/record.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { keepChildAlive } from './keep-alive.ts';

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
