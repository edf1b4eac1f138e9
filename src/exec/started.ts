import { pause } from '../core/clock.ts';
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

/** An order to stop, and the processes that were there when it was given. */
export interface Order {
  boot: string;
  at: number;
  by: string[];
  /** Missing in an order of an older version; null where the system does not list processes. */
  programs?: { pidNamespace: string; running: string[]; forked: string[] } | null;
}

/** Carries the start of a program to the one it becomes or starts in its place. */
export const STARTED = 'QUEUECTL_STARTED';

/** A program that reads the clock this long after it started had to wait for the processor. */
const SLOW_START_MS = 1000;
/** A fork executes a program within this time, or is a subshell. */
const FORK_MS = 200;

/** The start of this program, or of the one whose place it took. Removes the trace, so that no job inherits it. */
export function programStart(environment: NodeJS.ProcessEnv): ProgramStart {
  const given = environment[STARTED];
  delete environment[STARTED];
  const [name, born, reached] = given?.split(' ') ?? [];
  if (name !== undefined && born !== undefined && reached !== undefined)
    return { process: name, born: Number(born), reached: Number(reached) };
  const now = processes.clock();
  const own = processes.lineage()[0];
  return { process: own?.name ?? '', born: own?.born ?? now, reached: now };
}

export function startText({ process, born, reached }: ProgramStart): string {
  return `${process} ${born} ${reached}`;
}

/** Returns the order that this process gives now, with everything that `startedBefore` compares. */
export function orderNow(): Required<Order> {
  const at = processes.clock();
  const programs = processes.programs(at - FORK_MS);
  return {
    boot: processes.bootId(),
    at,
    by: processes.lineage().map((one) => one.name),
    programs: programs === null ? null : { pidNamespace: processes.pidNamespace(), ...programs },
  };
}

/**
 * Returns whether a program had started when the order was given: its process ran it, or had just been forked to run it. A
 * process that gave the order itself, or waited for it, does not count: `queuectl worker stop; exec queuectl worker start`
 * starts.
 */
export function startedBefore(start: ProgramStart, order: Order): boolean {
  const { boot, at, by, programs } = order;
  if (boot !== processes.bootId() || by.includes(start.process)) return false;
  // An order of the future was read from another clock, or this one was set back.
  if (processes.clock() < at) return false;
  const isQuick = start.reached < at + SLOW_START_MS;
  if (programs?.pidNamespace === processes.pidNamespace())
    return programs.running.includes(start.process) || (programs.forked.includes(start.process) && isQuick); // fault-control: start-order
  // Nothing but the age of the process is known here.
  return start.born <= at && isQuick;
}

/** Resolves when no process that starts from now on can be taken for one that was there at this time. */
export async function untilAfter(at: number): Promise<void> {
  while (processes.clock() <= at) await pause(1);
}
