import { pause } from '../core/clock.ts';
import { send } from './kill.ts';
import { processes, type Target } from './processes.ts';
import { scan } from './scan.ts';

const POLL_MS = 2;
/** A frame without a child is about to start its command or to record its end. Waiting for that takes at most this many looks. */
const MAX_LOOKS = 500;
/** A command that is still running after this time is left stopped without a further look, because looks can be expensive. */
const TIME_LIMIT_MS = 2000;
/** A process in an uninterruptible system call does not stop. After this time it counts as stopped. */
const FREEZE_MS = 500;
/** A process that used the processor for this long without a pause is at work, and not just about to exit. */
const BUSY_MS = 5;
/** If the system does not tell how long a process ran, it counts as busy after this many looks. */
const BUSY_LOOKS = 50;

/**
 * Returns whether the attempt's command is still running, and if so leaves it stopped by SIGSTOP. A command that is stopped
 * cannot end by itself any more, so any signal that ends it afterwards is from the caller.
 *
 * The program that does the work may be a child or a grandchild of the frame's child, because a shell waits for it. All of
 * them are stopped, from the frame's child down to the last one. If that one is a shell whose program has just ended, the
 * command is about to end. So the last process has to be the same one twice, and is continued for a while in between.
 */
export async function freezeCommand(target: Target, hasEnded: () => boolean): Promise<boolean> {
  // A job that somebody has suspended as a whole was not about to end, and must not be continued for a look.
  if (isSuspended(target)) return true;
  let before: number | null = null;
  const deadline = performance.now() + TIME_LIMIT_MS;
  for (let looks = 1; ; looks++) {
    if (hasEnded()) return false;
    if (!processes.carries(target.group, target.cookie)) {
      // The frame was killed, so nobody records the end of the processes that are left.
      return (await scan(target)).length > 0 && !hasEnded();
    }
    const frozen = await freezeBelow(target.group);
    const last = frozen.at(-1) ?? null;
    const isTimeUp = looks >= MAX_LOOKS || (last !== null && performance.now() > deadline);
    if ((last !== null && last === before) || isTimeUp) return true; // fault-control: freeze-twice
    before = last;
    // Somebody may have stopped the frame alone.
    for (const pid of [target.group, ...frozen]) send(pid, 'SIGCONT');
    if (last === null) await pause(POLL_MS);
    else await untilAtRest(last, hasEnded);
  }
}

function isSuspended({ group, cookie }: Target): boolean {
  if (!processes.carries(group, cookie)) return false;
  return [group, processes.childOf(group)].every(
    (pid) => pid !== null && processes.stateOf(pid) === 'stopped',
  );
}

/** Stops the frame's child, the newest child of that one, and so on. Returns the pids of those it stopped. */
async function freezeBelow(frame: number): Promise<number[]> {
  const frozen: number[] = [];
  for (let parent = frame; ; ) {
    // No shell waits for a child that has left the session. It may be a job of a worker inside this job.
    const child = parent === frame ? processes.childOf(frame) : processes.childInSession(parent);
    if (child === null) return frozen;
    if (!(await freeze(child, parent))) continue;
    frozen.push(child);
    parent = child; // fault-control: freeze-descendants
  }
}

/** Stops a child of `parent`. Returns false if it ended first. */
async function freeze(pid: number, parent: number): Promise<boolean> {
  const deadline = performance.now() + FREEZE_MS;
  send(pid, 'SIGSTOP');
  for (;;) {
    const state = processes.stateOf(pid, parent);
    if (state === 'stopped' || state === 'over') return state === 'stopped';
    if (performance.now() > deadline) return true;
    await pause(POLL_MS);
  }
}

/** Resolves when a continued process waits for something, is busy with its own work, has a child, or has ended. */
async function untilAtRest(pid: number, hasEnded: () => boolean): Promise<void> {
  const ranBefore = processes.ranMs(pid);
  for (let looks = 1; looks < MAX_LOOKS && !hasEnded(); looks++) {
    await pause(POLL_MS);
    const state = processes.stateOf(pid);
    if (state === 'over' || state === 'sleeping' || processes.childInSession(pid) !== null) return;
    const ran = processes.ranMs(pid);
    const busy = ran === null || ranBefore === null ? looks > BUSY_LOOKS : ran - ranBefore > BUSY_MS;
    if (state === 'running' && busy) return;
  }
}
