import { pause } from '../core/clock.ts';
import { crashPoint } from '../core/crash-point.ts';
import { type Found, processes } from './processes.ts';
import { scan } from './scan.ts';

/** What an attempt's processes are known by: the frame's group and the cookie in their environment. */
export interface Target {
  group: number;
  cookie: string;
  /** No process of the attempt started before this, in the kernel's own count. */
  since?: number;
}

const LOOK_MS = 50;
/** A process forked during a scan is in the next one: only two empty ones in a row prove that nothing is left. */
const EMPTY_SCANS = 2;

/** Sends a signal to everything of the attempt, and after the grace period SIGKILL until nothing is left. */
export async function endProcesses(
  target: Target,
  graceMs: number,
  first: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  const lookAgain = watch(target);
  let left = await lookAgain();
  if (left.length > 0) {
    signalAll(left, target, first);
    // A stopped process takes its signal only when it goes on.
    signalAll(left, target, 'SIGCONT');
  }
  const deadline = performance.now() + graceMs;
  while (left.length > 0 && performance.now() < deadline) {
    await pause(LOOK_MS);
    left = await lookAgain();
  }
  for (let empty = left.length === 0 ? 1 : 0; empty < EMPTY_SCANS; ) {
    left = await lookAgain();
    empty = left.length === 0 ? empty + 1 : 0;
    signalAll(left, target, 'SIGKILL');
    if (left.length > 0) await pause(LOOK_MS / 5);
  }
}

/**
 * Looks again and again. A process that was once found stays one of the attempt's until it ends, also when the frame by which
 * it was known is gone. A process that we may not signal (another user's, by a setuid program) is not waited for: it could
 * go on for ever.
 */
function watch(target: Target): () => Promise<Found[]> {
  const seen = new Map<number, Found>();
  return async () => {
    const found = await scan(target);
    const now = new Set(found.map((one) => one.pid));
    for (const one of found) seen.set(one.pid, one);
    for (const [pid, { startTime }] of seen) {
      const alive = now.has(pid) || processes.startTime(pid) === startTime;
      if (!alive || !maySignal(pid)) seen.delete(pid);
    }
    return [...seen.values()];
  };
}

function maySignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EPERM';
  }
}

/** Live processes of the attempt. */
export function look(target: Target): Found[] {
  return processes.find(target.cookie, target.group);
}

/** Is anything left in the frame's group? One system call, for the common case that nothing is. */
export function groupExists(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

/** Sends a signal to everything of the attempt. Answers how many processes that were. */
export function signalAttempt(target: Target, signal: NodeJS.Signals): number {
  const found = look(target);
  signalAll(found, target, signal);
  return found.length;
}

/** Only what was seen to carry the cookie is signalled: the group if a member does, and each that left it. */
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
    // It ended in between, which is what we wanted.
  }
}
