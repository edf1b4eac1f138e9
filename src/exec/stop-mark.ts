import { pause } from '../core/clock.ts';
import { processes } from './processes.ts';

/** The start of a program. Times are in milliseconds on the clock that all processes of this boot share. */
export interface ProgramStart {
  /** The name of its process (`pid:start time`). An `exec` keeps the process, so it may be older than the program. */
  process: string;
  /** When that process was created. */
  born: number;
  /** When the program read the clock, which it does soon after its start. */
  readClockAt: number;
}

/** Describes a `worker stop` of all workers, so that a program can tell whether it had started by then. */
export interface StopMark {
  boot: string;
  /** The time of the stop on the shared clock. */
  at: number;
  /** The names of the process that requested the stop and of its ancestors. */
  by: string[];
  /** Missing in a mark of an older version, and null if the system does not list processes. */
  programs?: { pidNamespace: string; running: string[]; forked: string[] } | null;
}

/** The variable that passes the start of a program on to the program that replaces it or runs in the background for it. */
export const STARTED_VARIABLE = 'QUEUECTL_STARTED';

/** A program that reads the clock later than this after a stop counts as started after it, unless it is listed as running. */
const SLOW_START_MS = 1000;
/** A fork that has not executed a program within this time counts as a subshell. */
const FRESH_FORK_MS = 200;

/** Returns the start of this program, or the one that STARTED_VARIABLE holds. Removes the variable, so that no job inherits it. */
export function programStart(environment: NodeJS.ProcessEnv): ProgramStart {
  const variable = environment[STARTED_VARIABLE];
  delete environment[STARTED_VARIABLE];
  const [name, born, readClockAt] = variable?.split(' ') ?? [];
  if (name !== undefined && born !== undefined && readClockAt !== undefined)
    return { process: name, born: Number(born), readClockAt: Number(readClockAt) };
  const now = processes.clock();
  const self = processes.lineage()[0];
  return { process: self?.name ?? '', born: self?.born ?? now, readClockAt: now };
}

export function startText({ process, born, readClockAt }: ProgramStart): string {
  return `${process} ${born} ${readClockAt}`;
}

/** Returns a mark for a stop that this process requests now. */
export function currentStopMark(): Required<StopMark> {
  const at = processes.clock();
  const programs = processes.queuectlProcesses(at - FRESH_FORK_MS);
  return {
    boot: processes.bootId(),
    at,
    by: processes.lineage().map((one) => one.name),
    programs: programs === null ? null : { pidNamespace: processes.pidNamespace(), ...programs },
  };
}

/**
 * Tells whether a program had started at the time of the mark: its process ran it, or had just been forked to run it. The
 * process that requested the stop and its ancestors do not count. So after
 * `queuectl worker stop; exec queuectl worker start` the worker runs.
 */
export function startedBefore(start: ProgramStart, mark: StopMark): boolean {
  const { boot, at, by, programs } = mark;
  if (boot !== processes.bootId() || by.includes(start.process)) return false;
  // A mark from the future is from another clock, or this clock was set back.
  if (processes.clock() < at) return false;
  const isQuick = start.readClockAt < at + SLOW_START_MS;
  if (programs?.pidNamespace === processes.pidNamespace())
    return programs.running.includes(start.process) || (programs.forked.includes(start.process) && isQuick); // fault-control: start-order
  // Without a list of processes from this pid namespace, only the age of the process can be compared.
  return start.born <= at && isQuick;
}

/** Resolves when the clock has passed this time, so that all processes started later are newer. */
export async function untilClockAfter(at: number): Promise<void> {
  while (processes.clock() <= at) await pause(1);
}
