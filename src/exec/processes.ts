import type { ProcessIdentity } from '../files/process-identity.ts';
import { linux } from './processes-linux.ts';
import { portable } from './processes-portable.ts';

/** Reads information about processes. `kill(pid, 0)` alone proves nothing, because pids are reused. */
export interface Processes extends ProcessIdentity {
  /** Returns the age of a process, or null if there is no such process. */
  ageMs(pid: number): number | null;
  /** Tells whether a process carries the cookie of an attempt and is not a zombie. */
  carries(pid: number, cookie: string): boolean;
  /** Returns every live process of an attempt, except this process. */
  find(attempt: Target): FoundProcess[];
  /** Returns the live processes of many attempts by their cookies, in one pass over all processes. */
  findAll(attempts: readonly Target[]): Map<string, FoundProcess[]>;
  /** Returns a lower bound for the start time of every process that starts from now on, for `Target.since`. */
  earliestStart(): number;
  /** Returns the pids of the children of a process, oldest first, without zombies. */
  childrenOf(pid: number): number[];
  /** Tells whether a signal such as SIGSTOP has stopped a process. */
  isSuspended(pid: number): boolean;
  /** Returns the pid of the live frame of an attempt, whatever its record holds, or null if there is none. */
  frameOf(cookie: string): number | null;
  /** Returns the cookie of every process that has one, even if it is forged, or null if the system does not tell. */
  carriers(): Carrier[] | null;
  /** Returns the time on a clock that all processes of this boot share, in milliseconds. */
  clock(): number;
  /** Returns the soft limit of open files with which this program was started, or null if the system does not tell. */
  inheritedOpenFileLimit(): string | null;
  /** Tells whether this process ignores a signal, as under nohup. Returns false if the system does not tell. */
  ignoresSignal(signal: number): boolean;
}

/** Identifies the processes of an attempt. */
export interface Target {
  /** The value of QUEUECTL_RUN in the environment of its processes. */
  cookie: string;
  /** The process group of its frame, which is the pid of the frame, or NO_GROUP if that is not known. */
  group: number;
  /** No process of the attempt started before this time, in ticks of the kernel since the boot. */
  since?: number;
}

export const NO_GROUP = -1;

export interface Carrier {
  cookie: string;
  /** Whether the process runs as this user and has no rights of another user. */
  own: boolean;
}

export interface FoundProcess {
  pid: number;
  group: number;
  startTime: string;
  /** Whether a signal such as SIGSTOP has stopped the process. */
  stopped: boolean;
}

export const processes: Processes = process.platform === 'linux' ? linux : portable;
