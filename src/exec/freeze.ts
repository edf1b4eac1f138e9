import { pause } from '../core/clock.ts';
import { sendSignal } from './kill.ts';
import { processes, type Target } from './processes.ts';
import { scan } from './scan.ts';

const POLL_MS = 2;
/** The maximum number of checks in a wait. While the frame has no child, its command is about to start or to end, so it is checked again. */
const MAX_CHECKS = 500;
/** A command that is still running after this time is left stopped without a further check, because checks can be expensive. */
const FREEZE_LIMIT_MS = 2000;
/** A process in an uninterruptible system call does not stop. After this time it counts as stopped. */
const STOP_LIMIT_MS = 500;
/** A process that has used the processor for longer than this since it was continued is at work, and not just about to exit. */
const BUSY_MS = 5;
/** If the system does not tell how long a process used the processor, it counts as busy after this many checks. */
const BUSY_CHECKS = 50;

/**
 * Returns whether the attempt's command is still running, and if so leaves it stopped by SIGSTOP. A command that is stopped
 * cannot end by itself any more, so any signal that ends it afterwards is from the caller. If the frame was killed, or has no
 * child for a long time, the result may be true although nothing is stopped.
 *
 * The program that does the work may be a child or a grandchild of the frame's child, because a shell waits for it. All of
 * them are stopped, from the frame's child down to the last one. If that one is a shell whose program has just ended, the
 * command is about to end. So the last process has to be the same one in two checks. It is continued for a while in between.
 */
export async function freezeCommand(target: Target, hasEnded: () => boolean): Promise<boolean> {
  // A job that somebody has suspended as a whole was not about to end, and must not be continued for a check.
  if (isSuspended(target)) return true;
  let previousLast: number | null = null;
  const deadline = performance.now() + FREEZE_LIMIT_MS;
  for (let checks = 1; ; checks++) {
    if (hasEnded()) return false;
    if (!processes.carries(target.group, target.cookie)) {
      // The frame was killed, so nobody records the end of the processes that are left.
      return (await scan(target)).length > 0 && !hasEnded();
    }
    const frozen = await freezeDescendants(target.group);
    const last = frozen.at(-1) ?? null;
    const isTimeUp = checks >= MAX_CHECKS || (last !== null && performance.now() > deadline);
    if ((last !== null && last === previousLast) || isTimeUp) return true; // fault-control: freeze-twice
    previousLast = last;
    // The frame is continued, too, because somebody may have stopped it.
    for (const pid of [target.group, ...frozen]) sendSignal(pid, 'SIGCONT');
    if (last === null) await pause(POLL_MS);
    else await untilWaitingOrBusy(last, hasEnded);
  }
}

function isSuspended({ group, cookie }: Target): boolean {
  if (!processes.carries(group, cookie)) return false;
  return [group, processes.newestChildOf(group)].every(
    (pid) => pid !== null && processes.stateOf(pid) === 'stopped',
  );
}

/** Stops the newest child of the frame, the newest child of that child, and so on. Returns their pids. */
async function freezeDescendants(frame: number): Promise<number[]> {
  const frozen: number[] = [];
  for (let parent = frame; ; ) {
    // No shell waits for a child that has left the session. It may be a job of a worker inside this job.
    const child = parent === frame ? processes.newestChildOf(frame) : processes.newestChildInSession(parent);
    if (child === null) return frozen;
    if (!(await stop(child, parent))) continue;
    frozen.push(child);
    parent = child; // fault-control: freeze-descendants
  }
}

/** Stops a child of `parent`. Returns false if the child ended first. */
async function stop(pid: number, parent: number): Promise<boolean> {
  const deadline = performance.now() + STOP_LIMIT_MS;
  sendSignal(pid, 'SIGSTOP');
  for (;;) {
    const state = processes.stateOf(pid, parent);
    if (state === 'stopped' || state === 'over') return state === 'stopped';
    if (performance.now() > deadline) return true;
    await pause(POLL_MS);
  }
}

/** Resolves when a continued process waits for something, is busy with its own work, has a child or has ended, or after MAX_CHECKS. */
async function untilWaitingOrBusy(pid: number, hasEnded: () => boolean): Promise<void> {
  const cpuMsBefore = processes.cpuMs(pid);
  for (let checks = 1; checks < MAX_CHECKS && !hasEnded(); checks++) {
    await pause(POLL_MS);
    const state = processes.stateOf(pid);
    if (state === 'over' || state === 'sleeping' || processes.newestChildInSession(pid) !== null) return;
    const cpuMs = processes.cpuMs(pid);
    const isBusy =
      cpuMs === null || cpuMsBefore === null ? checks > BUSY_CHECKS : cpuMs - cpuMsBefore > BUSY_MS;
    if (state === 'running' && isBusy) return;
  }
}
