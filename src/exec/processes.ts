import type { ProcessIdentity } from '../files/process-identity.ts';
import { linux } from './processes-linux.ts';
import { portable } from './processes-portable.ts';

/** Asks the system about processes. `kill(pid, 0)` alone proves nothing, because pids are reused. */
export interface Processes extends ProcessIdentity {
  /** Returns how long a process has lived, by a clock that does not step; null: unknown. */
  ageMs(pid: number): number | null;
  /** Tells whether a process carries the cookie of an attempt and is not a zombie. */
  carries(pid: number, cookie: string): boolean;
  /** Returns every live process of an attempt, except this process. */
  find(attempt: Target): Found[];
  /** The same for many attempts in one pass over all processes. Returns the processes of each attempt by its cookie. */
  findAll(attempts: readonly Target[]): Map<string, Found[]>;
  /** Returns a time in the kernel's own count that is not later than the start of any process started from now on. */
  now(): number;
  /** Returns the newest child of a process that is not a zombie; null if it has none. */
  childOf(pid: number): number | null;
  /** The same among the children that have not left the session of the process. */
  childInSession(pid: number): number | null;
  /** Returns what a process does. A zombie, and one that is not the child of `parent` if that is given, is over. */
  stateOf(pid: number, parent?: number): 'running' | 'sleeping' | 'stopped' | 'over';
  /** Returns how long the first thread of a process has used a processor; null: the system does not tell. */
  ranMs(pid: number): number | null;
  /** Returns the live frame of an attempt, whatever its record holds; null if there is none. */
  frameOf(cookie: string): number | null;
  /** Returns every process that carries a cookie, whoever gave it to it; null: the system does not tell. */
  carriers(): Carrier[] | null;
  /** Returns the time on a clock that all processes of this boot share, in milliseconds. */
  clock(): number;
  /** Returns this process and its ancestors. Empty where the system does not tell. */
  lineage(): Ancestor[];
  /** Returns the processes that run this executable, and those forked since a time that have not executed a program yet. */
  programs(since: number): Programs | null;
  /** Returns the soft limit of open files that this program was started with; null: the system does not tell. */
  inheritedOpenFiles(): string | null;
  /** Tells whether a signal was ignored when this program started, as under nohup. */
  ignoresAtStart(signal: number): boolean;
}

/** Identifies the processes of an attempt. */
export interface Target {
  /** Is in the environment of its processes. */
  cookie: string;
  /** The process group of its frame, which is the frame's pid, or NO_GROUP if that is not known. */
  group: number;
  /** No process of the attempt started before this, in the kernel's own count. */
  since?: number;
}

export const NO_GROUP = -1;

export interface Carrier {
  cookie: string;
  /** It runs as this user and has no rights of another. */
  own: boolean;
}

export interface Ancestor {
  /** `pid:start time`. */
  name: string;
  /** When the process was made, on the shared clock. An `exec` changes nothing about it. */
  born: number;
}

/** Processes by their names, the newest first. */
export interface Programs {
  running: string[];
  forked: string[];
}

export interface Found {
  pid: number;
  group: number;
  startTime: string;
  /** By SIGSTOP or its kin. */
  stopped: boolean;
}

export const processes: Processes = process.platform === 'linux' ? linux : portable;
