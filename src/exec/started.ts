import { readFileSync } from 'node:fs';
import { processes } from './processes.ts';

/** When a program started, on the clock that all processes of this boot share. */
export interface ProgramStart {
  /** Its process. An `exec` keeps it, so it may be older than the program. */
  process: string;
  /** When that process was made. */
  born: number;
  /** When the program read the clock: an upper bound of its own start. */
  reached: number;
}

/** Carries the start of a program to the one it becomes or starts in its place. */
export const STARTED = 'QUEUECTL_STARTED';

/** A program that reads the clock this long after it started had to wait for the processor. */
const SLOW_START_MS = 1000;
/** The kernel counts both clocks in hundredths of a second. */
const TICK_MS = 10;
const LINUX = process.platform === 'linux';

/** Milliseconds since the boot. Elsewhere than on Linux the wall clock has to do. */
export function bootClock(): number {
  if (!LINUX) return Date.now();
  return Math.round(Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 1000);
}

/** The start of this program, or of the one whose place it took. Removes the trace, so that no job inherits it. */
export function programStart(environment: NodeJS.ProcessEnv): ProgramStart {
  const given = environment[STARTED];
  delete environment[STARTED];
  const [name, born, reached] = given?.split(' ') ?? [];
  if (name !== undefined && born !== undefined && reached !== undefined)
    return { process: name, born: Number(born), reached: Number(reached) };
  const now = bootClock();
  const own = lineage()[0];
  return { process: own ?? '', born: own === undefined ? now : bornAt(own), reached: now };
}

export function startText({ process, born, reached }: ProgramStart): string {
  return `${process} ${born} ${reached}`;
}

/** This process and its ancestors, each as `pid:start time`. Empty where the system does not tell. */
export function lineage(): string[] {
  const found: string[] = [];
  for (let pid = LINUX ? process.pid : 0; pid > 0; ) {
    const about = parentAndStart(pid);
    if (about === null) break;
    found.push(`${pid}:${about.startTime}`);
    pid = about.parent;
  }
  return found;
}

/**
 * Whether a program had started when the order was given. A process that the shell had made by then, but that was not the
 * program yet or had not read the clock, counts too. One that gave the order itself, or waited for it, does not:
 * `queuectl worker stop; exec queuectl worker start` starts.
 */
export function startedBefore(
  start: ProgramStart,
  order: { boot: string; at: number; by: string[] },
): boolean {
  if (order.boot !== processes.bootId() || order.by.includes(start.process)) return false;
  // An order of the future was read from another clock, or this one was set back.
  if (bootClock() < order.at) return false;
  return start.born <= order.at && start.reached < order.at + SLOW_START_MS;
}

/** Resolves when no process that starts from now on can be taken for one that was there at this time. */
export async function untilAfter(at: number): Promise<void> {
  while (bootClock() <= at) await new Promise((resolve) => setTimeout(resolve, 1));
}

function bornAt(name: string): number {
  return Number(name.split(':')[1]) * TICK_MS;
}

function parentAndStart(pid: number): { parent: number; startTime: string } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), startTime: fields[19]! };
  } catch {
    return null;
  }
}
