import { pause } from '../core/clock.ts';
import { processes } from './processes.ts';

/** The start of a program. Times are on the clock that all processes of this boot share. */
export interface ProgramStart {
  /** The name of its process. An `exec` keeps the process, so it may be older than the program. */
  process: string;
  /** When that process was created. */
  born: number;
  /** When the program read the clock, which is an upper bound of its own start. */
  reached: number;
}

/** An order to stop, with the processes that existed when it was given. */
export interface Order {
  boot: string;
  at: number;
  by: string[];
  /** Missing in an order of an older version, and null if the system does not list processes. */
  programs?: { pidNamespace: string; running: string[]; forked: string[] } | null;
}

/** The variable that passes the start of a program on to the program that replaces it. */
export const STARTED = 'QUEUECTL_STARTED';

/** A program that reads the clock this long after it started had to wait for the processor. */
const SLOW_START_MS = 1000;
/** A fork that has not executed a program within this time is a subshell. */
const FORK_MS = 200;

/** Returns the start of this program, or of the program that it replaces. Removes the variable, so that no job inherits it. */
export function programStart(environment: NodeJS.ProcessEnv): ProgramStart {
  const given = environment[STARTED];
  delete environment[STARTED];
  const [name, born, reached] = given?.split(' ') ?? [];
  if (name !== undefined && born !== undefined && reached !== undefined)
    return { process: name, born: Number(born), reached: Number(reached) };
  const now = processes.clock();
  const self = processes.lineage()[0];
  return { process: self?.name ?? '', born: self?.born ?? now, reached: now };
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
 * Tells whether a program had started when the order was given: its process ran it, or had just been forked to run it. The
 * process that gave the order, and those that waited for it, do not count. So after
 * `queuectl worker stop; exec queuectl worker start` the worker runs.
 */
export function startedBefore(start: ProgramStart, order: Order): boolean {
  const { boot, at, by, programs } = order;
  if (boot !== processes.bootId() || by.includes(start.process)) return false;
  // An order from the future is from another clock, or this clock was set back.
  if (processes.clock() < at) return false;
  const isQuick = start.reached < at + SLOW_START_MS;
  if (programs?.pidNamespace === processes.pidNamespace())
    return programs.running.includes(start.process) || (programs.forked.includes(start.process) && isQuick); // fault-control: start-order
  // Only the age of the process is known here.
  return start.born <= at && isQuick;
}

/** Resolves when the clock has passed this time, so that all processes started later are newer. */
export async function untilAfter(at: number): Promise<void> {
  while (processes.clock() <= at) await pause(1);
}
