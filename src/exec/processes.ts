import type { ProcessIdentity } from '../files/process-identity.ts';
import { linux } from './processes-linux.ts';
import { portable } from './processes-portable.ts';

/** Gets information about processes. `kill(pid, 0)` alone proves nothing, because pids are reused. */
export interface Processes extends ProcessIdentity {
  /** Returns the age of a process, or null if it is unknown. */
  ageMs(pid: number): number | null;
  /** Tells whether a process carries the cookie of an attempt and is not a zombie. */
  carries(pid: number, cookie: string): boolean;
  /** Returns every live process of an attempt, except this process. */
  find(attempt: Target): Found[];
  /** Returns the live processes of many attempts by their cookies, in one pass over all processes. */
  findAll(attempts: readonly Target[]): Map<string, Found[]>;
  /** Returns a time in the unit of `since`. No process that starts from now on has an earlier start time. */
  now(): number;
  /** Returns the newest child of a process that is not a zombie, or null if it has none. */
  childOf(pid: number): number | null;
  /** Returns the newest such child that is in the session of the process, or null if there is none. */
  childInSession(pid: number): number | null;
  /** Returns the state of a process. It is over if it is a zombie, or if `parent` is given and is not its parent. */
  stateOf(pid: number, parent?: number): 'running' | 'sleeping' | 'stopped' | 'over';
  /** Returns how long the first thread of a process has used a processor, or null if the system does not tell. */
  ranMs(pid: number): number | null;
  /** Returns the pid of the live frame of an attempt, whatever its record holds, or null if there is none. */
  frameOf(cookie: string): number | null;
  /** Returns every process that carries a cookie, even a forged one, or null if the system does not tell. */
  carriers(): Carrier[] | null;
  /** Returns the time on a clock that all processes of this boot share, in milliseconds. */
  clock(): number;
  /** Returns this process and its ancestors, or nothing if the system does not tell. */
  lineage(): Ancestor[];
  /** Returns the processes that run this executable, and those forked since a time that have not executed a program yet. */
  programs(since: number): Programs | null;
  /** Returns the soft limit of open files with which this program was started, or null if the system does not tell. */
  inheritedOpenFiles(): string | null;
  /** Tells whether a signal was ignored when this program started, as under nohup. */
  ignoresAtStart(signal: number): boolean;
}

/** Identifies the processes of an attempt. */
export interface Target {
  /** The value of QUEUECTL_RUN in the environment of its processes. */
  cookie: string;
  /** The process group of its frame, which is the pid of the frame, or NO_GROUP if that is not known. */
  group: number;
  /** No process of the attempt started before this time, which is in the unit of the kernel (ticks since the boot). */
  since?: number;
}

export const NO_GROUP = -1;

export interface Carrier {
  cookie: string;
  /** The process runs as this user and has no rights of another user. */
  own: boolean;
}

export interface Ancestor {
  /** `pid:start time`. */
  name: string;
  /** When the process was created, on the shared clock. An `exec` does not change it. */
  born: number;
}

/** Names of processes (`pid:start time`), newest first. */
export interface Programs {
  running: string[];
  forked: string[];
}

export interface Found {
  pid: number;
  group: number;
  startTime: string;
  /** Tells whether a signal such as SIGSTOP has stopped the process. */
  stopped: boolean;
}

export const processes: Processes = process.platform === 'linux' ? linux : portable;
