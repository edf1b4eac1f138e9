import { inSteps } from '../core/crash-point.ts';
import { pause, pollUntil } from '../core/time/clock.ts';
import type { AttemptFiles } from '../state/attempt-files.ts';
import { readRecord } from '../state/record.ts';
import { type FoundProcess, NO_GROUP, processes, type Target } from './processes.ts';

const POLL_MS = 50;
/** Only this many empty scans in a row prove that no process is left, because a process forked during a scan is only in the next one. */
const EMPTY_SCANS = 2;

/** Sends a signal to all processes of an attempt and, after the grace period, SIGKILL until none is left that we can signal. */
export async function endProcesses(
  target: Target,
  graceMs: number,
  firstSignal: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  const findRemaining = watchProcesses(target);
  let remaining = await findRemaining();
  if (remaining.length > 0) {
    signalAll(remaining, target, firstSignal);
    // A stopped process handles its signal only after it is continued.
    signalAll(remaining, target, 'SIGCONT');
    const isNoneLeft = async (): Promise<boolean> => {
      remaining = await findRemaining();
      return remaining.length === 0;
    };
    await pollUntil(isNoneLeft, POLL_MS, graceMs);
  }
  for (let emptyScans = remaining.length === 0 ? 1 : 0; emptyScans < EMPTY_SCANS; ) {
    remaining = await findRemaining();
    emptyScans = remaining.length === 0 ? emptyScans + 1 : 0;
    signalAll(remaining, target, 'SIGKILL');
    if (remaining.length > 0) await pause(POLL_MS / 5);
  }
}

/**
 * Returns a function that finds the processes of an attempt that are left. A process that was found once belongs to the
 * attempt until it ends, even if the frame that identified it is gone. Processes that we cannot signal, such as setuid
 * programs of another user, are left out, because they could run for ever.
 */
function watchProcesses(target: Target): () => Promise<FoundProcess[]> {
  const seen = new Map<number, FoundProcess>();
  return async () => {
    const found = await scan(target); // fault-control: end-scan
    const foundPids = new Set(found.map((one) => one.pid));
    for (const one of found) seen.set(one.pid, one);
    for (const [pid, { startTime }] of seen) {
      const alive = foundPids.has(pid) || processes.startTime(pid) === startTime;
      if (!alive || signalErrorOf(pid) === 'EPERM') seen.delete(pid);
    }
    return [...seen.values()];
  };
}

/** Returns the error code with which a signal to a process, or to a group (`-pid`), would fail, or null if it would be sent. */
function signalErrorOf(pid: number): string | null {
  try {
    process.kill(pid, 0);
    return null;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/** Returns what identifies the processes of an attempt. The group is known only while the record shows a running command. */
export function targetOf(files: AttemptFiles): Target {
  const record = readRecord(files);
  return { group: record?.kind === 'running' ? record.pid : NO_GROUP, cookie: files.cookie };
}

/** Tells whether a process that we can signal is left in a group. This takes only one system call. */
export function groupExists(group: number): boolean {
  return signalErrorOf(-group) === null;
}

/** Sends a signal to all processes of an attempt. Returns how many there were. */
export function signalAttempt(target: Target, signal: NodeJS.Signals): number {
  const found = processes.find(target);
  signalAll(found, target, signal);
  return found.length;
}

/** Signals the group if one of its processes was found, and each found process that has left the group. */
function signalAll(found: FoundProcess[], target: Target, signal: NodeJS.Signals): void {
  if (found.some((one) => one.group === target.group)) sendSignal(-target.group, signal);
  for (const one of found) if (one.group !== target.group) sendSignal(one.pid, signal);
}

/** Sends a signal to a process, or to a group (`-pid`), if that is possible. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    inSteps('signal', () => process.kill(pid, signal));
  } catch {
    // The process has ended in the meantime, or belongs to another user.
  }
}

type FindAll = (attempts: readonly Target[]) => Map<string, FoundProcess[]>;

interface ScanRequest {
  attempt: Target;
  resolve(found: FoundProcess[]): void;
  reject(error: unknown): void;
}

/** After a pass that took longer than this, the next one waits as long as that pass took, so that other work gets its turn. */
const SHORT_PASS_MS = 10;

/** Returns a function that finds the processes of an attempt. One pass over the process table answers all pending calls. */
export function createScan(findAll: FindAll): (attempt: Target) => Promise<FoundProcess[]> {
  let pending: ScanRequest[] = [];
  let restUntil = 0;

  const runPass = (): void => {
    const requests = pending;
    pending = [];
    const start = performance.now();
    try {
      const found = findAll(requests.map((one) => one.attempt));
      for (const { attempt, resolve } of requests) resolve(found.get(attempt.cookie) ?? []);
    } catch (error) {
      for (const { reject } of requests) reject(error);
    }
    const end = performance.now();
    if (end - start > SHORT_PASS_MS) restUntil = end + (end - start);
  };

  return (attempt) =>
    new Promise((resolve, reject) => {
      pending.push({ attempt, resolve, reject });
      if (pending.length > 1) return;
      const restMs = restUntil - performance.now();
      if (restMs > 0) setTimeout(runPass, restMs);
      else setImmediate(runPass);
    });
}

/** Finds the processes of an attempt. Calls that are made at the same time share one pass over the process table. */
export const scan = createScan((attempts) => processes.findAll(attempts));
