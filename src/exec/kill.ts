import { pause } from '../core/clock.ts';
import { crashPoint } from '../core/crash-point.ts';
import type { Place } from '../state/place.ts';
import { readRecord } from '../state/record.ts';
import { type Found, NO_GROUP, processes, type Target } from './processes.ts';
import { scan } from './scan.ts';

const POLL_MS = 50;
/** A process that was forked during a scan is in the next scan, so only two empty scans in a row prove that none is left. */
const EMPTY_SCANS = 2;

/** Sends a signal to all processes of an attempt and, after the grace period, SIGKILL until none is left. */
export async function endProcesses(
  target: Target,
  graceMs: number,
  first: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  const lookAgain = watch(target);
  let remaining = await lookAgain();
  if (remaining.length > 0) {
    signalAll(remaining, target, first);
    // A stopped process handles its signal only after it is continued.
    signalAll(remaining, target, 'SIGCONT');
  }
  const deadline = performance.now() + graceMs;
  while (remaining.length > 0 && performance.now() < deadline) {
    await pause(POLL_MS);
    remaining = await lookAgain();
  }
  for (let empty = remaining.length === 0 ? 1 : 0; empty < EMPTY_SCANS; ) {
    remaining = await lookAgain();
    empty = remaining.length === 0 ? empty + 1 : 0;
    signalAll(remaining, target, 'SIGKILL');
    if (remaining.length > 0) await pause(POLL_MS / 5);
  }
}

/**
 * Returns a function that finds the processes of an attempt that are left. A process that was found once belongs to the
 * attempt until it ends, even if the frame that identified it is gone. Processes that we may not signal, such as setuid
 * programs of another user, are left out, because they could run for ever.
 */
function watch(target: Target): () => Promise<Found[]> {
  const seen = new Map<number, Found>();
  return async () => {
    const found = await scan(target); // fault-control: end-scan
    const now = new Set(found.map((one) => one.pid));
    for (const one of found) seen.set(one.pid, one);
    for (const [pid, { startTime }] of seen) {
      const alive = now.has(pid) || processes.startTime(pid) === startTime;
      if (!alive || signalErrorOf(pid) === 'EPERM') seen.delete(pid);
    }
    return [...seen.values()];
  };
}

/** Returns the error code with which a signal to a process or group would fail, or null if it would not. */
function signalErrorOf(pid: number): string | null {
  try {
    process.kill(pid, 0);
    return null;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/** Returns the target of an attempt. The group is known only while the record shows a running command. */
export function targetOf(place: Place): Target {
  const record = readRecord(place);
  return { group: record?.kind === 'running' ? record.pid : NO_GROUP, cookie: place.cookie };
}

/** Tells whether a process is left in a group, by one system call. */
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
function signalAll(found: Found[], target: Target, signal: NodeJS.Signals): void {
  if (found.some((one) => one.group === target.group)) send(-target.group, signal);
  for (const one of found) if (one.group !== target.group) send(one.pid, signal);
}

export function send(pid: number, signal: NodeJS.Signals): void {
  crashPoint('before-signal');
  try {
    process.kill(pid, signal);
    crashPoint('after-signal');
  } catch {
    // The process has ended in the meantime, or belongs to another user.
  }
}
