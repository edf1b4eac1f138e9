import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { uptime } from 'node:os';
import {
  isOver,
  type ProcessIdentity,
  type ProcStat,
  processIdentity,
  ps,
  stat,
} from '../files/process-identity.ts';
import { maybeRead } from '../files/read.ts';
import { pathInState } from '../state/attempt-files.ts';
import { cookieMatches, nameIn } from '../state/key.ts';
import { recordPathIn } from './frame.ts';

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

/** The kernel counts process times in hundredths of a second on every platform we run on. */
const TICK_MS = 10;

/** The process list is read until it has no new process, because a listed one may have forked, but at most this many times. */
const MAX_READS = 30;

/** The flag of a process that was forked and has not executed a program since (PF_FORKNOEXEC in the kernel). */
const FORKED_WITHOUT_EXEC = 0x40;

export const linux: Processes = {
  ...processIdentity,
  ageMs(pid) {
    const found = stat(pid);
    if (found === null) return null;
    return Math.max(0, linux.clock() - bornAt(found));
  },
  carries: (pid, cookie) => hasCookie(pid, cookie) && linux.startTime(pid) !== null,
  find: (attempt) => findAll([attempt]).get(attempt.cookie)!,
  findAll,
  // The system may round the uptime to whole seconds, up or down.
  earliestStart: () => (Math.floor(uptime()) - 2) * (1000 / TICK_MS),
  childrenOf: (pid) =>
    childrenOf(pid).filter((child) => {
      const procStat = stat(child);
      return procStat?.parent === pid && !isOver(procStat);
    }),
  isSuspended: (pid) => stat(pid)?.state === 'T',
  frameOf(cookie) {
    const record = pathInState(nameIn(cookie), 'rec');
    const isFrame = (pid: number): boolean => {
      // The cookie is checked first, because few processes have the right one.
      const procStat = hasCookie(pid, cookie) ? stat(pid) : null;
      if (procStat === null || procStat.session !== pid || isOver(procStat)) return false;
      // Only the frame has the record in its arguments. Other processes of the command can lead sessions, too.
      const args = (maybeRead(`/proc/${pid}/cmdline`) ?? '').split('\0');
      const path = recordPathIn(args);
      return path?.endsWith(record) === true;
    };
    return allPids().find(isFrame) ?? null;
  },
  carriers() {
    return allPids().flatMap((pid) => {
      const cookie = cookieOf(pid);
      return cookie === undefined ? [] : { cookie, own: isOwn(pid) };
    });
  },
  clock: () => Math.round(Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 1000),
  inheritedOpenFileLimit() {
    // The runtime has already raised the limit of this process. The parent still has the limit that the user set.
    const limits = maybeRead(`/proc/${process.ppid}/limits`);
    return /^Max open files +(\S+)/m.exec(limits ?? '')?.[1] ?? null;
  },
  ignoresSignal(signal) {
    const mask = /^SigIgn:\s*([0-9a-f]+)/m.exec(maybeRead('/proc/self/status') ?? '')?.[1] ?? '0';
    return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
  },
};

function findAll(attempts: readonly Target[]): Map<string, FoundProcess[]> {
  const found = new Map<string, FoundProcess[]>(attempts.map(({ cookie }) => [cookie, []]));
  const byName = new Map(attempts.map((one) => [nameIn(one.cookie), one]));
  const byFrame = new Map(attempts.filter(({ group }) => group > 0).map((one) => [one.group, one]));
  const since = Math.min(...attempts.map((one) => one.since ?? 0));
  const seen = new Set<number>();
  for (let reads = 0; reads < MAX_READS; reads++) {
    const fresh = allPids().filter((pid) => !seen.has(pid));
    if (fresh.length === 0) break;
    const frameIsAlive = new Map<Target, boolean>();
    for (const pid of fresh) {
      seen.add(pid);
      const procStat = stat(pid);
      // A process that is older than every frame belongs to none of them.
      if (procStat === null || isOver(procStat) || Number(procStat.startTime) < since) continue;
      // A process that ends its own job does not end itself.
      if (pid === process.pid) continue;
      const carried = cookieOf(pid) ?? '';
      const named = byName.get(nameIn(carried));
      const attempt =
        named !== undefined && cookieMatches(carried, named.cookie, () => isOwn(pid))
          ? named
          : attemptOfSession(pid, byFrame.get(procStat.session), frameIsAlive);
      if (attempt !== undefined)
        found.get(attempt.cookie)!.push({
          pid,
          group: procStat.group,
          startTime: procStat.startTime,
          stopped: isSuspended(pid, procStat),
        });
    }
  }
  return found;
}

function allPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function hasCookie(pid: number, cookie: string): boolean {
  const carried = cookieOf(pid);
  return carried !== undefined && cookieMatches(carried, cookie, () => isOwn(pid));
}

function cookieOf(pid: number): string | undefined {
  // With this zero byte, every variable is between two zero bytes.
  const environment = `\0${maybeRead(`/proc/${pid}/environ`) ?? ''}`;
  return /\0QUEUECTL_RUN=([^\0]*)\0/.exec(environment)?.[1];
}

/**
 * Returns the attempt if a process in the session of its frame belongs to it. The process has cleared its environment, or we
 * cannot read it. While the frame is alive, all processes of the session belong to the attempt. When the frame is gone, another
 * session may have its pid. Then the process belongs to the attempt only if it has a file of the attempt open.
 */
function attemptOfSession(
  pid: number,
  attempt: Target | undefined,
  frameIsAlive: Map<Target, boolean>,
): Target | undefined {
  if (attempt === undefined) return undefined;
  const { cookie, group } = attempt;
  const isAlive = frameIsAlive.get(attempt) ?? hasCookie(group, cookie);
  frameIsAlive.set(attempt, isAlive);
  return isAlive || hasFileOpen(pid, cookie) ? attempt : undefined;
}

/** Tells whether a process has a private file of the attempt open. Other users cannot open or create such files. */
function hasFileOpen(pid: number, cookie: string): boolean {
  const path = pathInState(nameIn(cookie), '');
  try {
    return readdirSync(`/proc/${pid}/fd`)
      .map((fd) => `/proc/${pid}/fd/${fd}`)
      .some((file) => {
        const target = readlinkSync(file);
        return target.includes(path) && isPrivate(file);
      });
  } catch {
    return false;
  }
}

function isPrivate(file: string): boolean {
  const { uid, mode } = statSync(file);
  return uid === process.getuid?.() && (mode & 0o077) === 0;
}

/** Tells whether all user ids of a process are those of this user. That is not so for setuid programs of other users. */
function isOwn(pid: number): boolean {
  const ids = /^Uid:\s*(.*)$/m.exec(maybeRead(`/proc/${pid}/status`) ?? '')?.[1]?.split(/\s+/) ?? [];
  return ids.length > 0 && ids.every((id) => Number(id) === process.getuid?.());
}

/** Returns the children of a process, oldest first. Reads the parent of every process if the kernel has no list of children. */
function childrenOf(pid: number): number[] {
  const listed = maybeRead(`/proc/${pid}/task/${pid}/children`);
  if (listed !== null) return listed.split(' ').filter(Boolean).map(Number);
  return allPids().filter((one) => stat(one)?.parent === pid);
}

/**
 * Tells whether a signal has stopped a process. A shell may start a program by vfork, and waits in the kernel until the child has
 * executed it. If the child is stopped before that, the shell does not get the state of a stopped process, but cannot go on either.
 */
function isSuspended(pid: number, { state }: ProcStat): boolean {
  return state === 'T' || (state === 'D' && childrenOf(pid).some(isStoppedFork));
}

function isStoppedFork(pid: number): boolean {
  const procStat = stat(pid);
  return procStat?.state === 'T' && (procStat.flags & FORKED_WITHOUT_EXEC) !== 0;
}

/** Returns when a process was created, in milliseconds on the clock that all processes of this boot share. */
function bornAt({ startTime }: ProcStat): number {
  return Number(startTime) * TICK_MS;
}

/** Reads processes with `ps`, for systems without /proc. `ps` shows no cookies, so an attempt's processes are those in its frame's group. */
export const portable: Processes = {
  ...processIdentity,
  ageMs(pid) {
    const started = portable.startTime(pid);
    return started === null ? null : Math.max(0, Date.now() - Date.parse(started));
  },
  carries: (pid) => ps(['-o', 'pgid=', '-p', String(pid)]) === String(pid) && !isZombie(pid),
  find: (attempt) => portable.findAll([attempt]).get(attempt.cookie)!,
  findAll(attempts) {
    const found = new Map<string, FoundProcess[]>(attempts.map(({ cookie }) => [cookie, []]));
    const byFrame = new Map(attempts.map(({ cookie, group }) => [group, cookie]));
    for (const line of (ps(['-A', '-o', 'pid=,pgid=,stat=,lstart=']) ?? '').split('\n')) {
      const [pid, pgid, state, ...lstart] = line.trim().split(/\s+/);
      const cookie = byFrame.get(Number(pgid));
      if (cookie === undefined || state === undefined || state.startsWith('Z')) continue;
      const [stopped, startTime] = [state.startsWith('T'), lstart.join(' ')];
      found.get(cookie)!.push({ pid: Number(pid), group: Number(pgid), stopped, startTime });
    }
    return found;
  },
  earliestStart: () => 0,
  childrenOf: (pid) =>
    (ps(['-A', '-o', 'pid=,ppid=,stat=']) ?? '')
      .split('\n')
      .map((one) => one.trim().split(/\s+/))
      .filter(([, parent, state]) => Number(parent) === pid && !state?.startsWith('Z'))
      .map(([child]) => Number(child)),
  isSuspended: (pid) => ps(['-o', 'stat=', '-p', String(pid)])?.startsWith('T') ?? false,
  frameOf(cookie) {
    const record = pathInState(nameIn(cookie), 'rec ');
    const lines = (ps(['-A', '-ww', '-o', 'pid=,pgid=,stat=,command=']) ?? '').split('\n');
    const frame = lines.find((line) => {
      const [pid, pgid, state] = line.trim().split(/\s+/);
      return pid === pgid && state?.startsWith('Z') === false && line.includes(record);
    });
    return frame === undefined ? null : Number(frame.trim().split(/\s+/)[0]);
  },
  carriers: () => null,
  clock: () => Date.now(),
  inheritedOpenFileLimit: () => null,
  ignoresSignal: () => false,
};

function isZombie(pid: number): boolean {
  return ps(['-o', 'stat=', '-p', String(pid)])?.startsWith('Z') ?? true;
}

export const processes: Processes = process.platform === 'linux' ? linux : portable;
