import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { orNull } from '../core/text/language.ts';
import { maybeRead } from './read.ts';

/** Identifies processes by more than a pid, which is reused and is meaningless after a reboot or in another pid namespace. */
export type ProcessIdentity = typeof linux;

/** The initial time namespace has this fixed inode number (PROC_TIME_INIT_INO). */
const INITIAL_TIME_NAMESPACE = 'time:[4026531834]';

const linux = {
  /** Identifies this boot of the machine. */
  bootId: (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
  /** Identifies the pid and time namespaces. Pids and start times are comparable only within both. */
  pidNamespace: (): string => [readlinkSync('/proc/self/ns/pid'), ...ownTimeNamespace()].join(' '),
  /** Tells whether /proc belongs to the pid namespace of this process. */
  showsOwnPids: (): boolean => orNull(() => readlinkSync('/proc/self')) === String(process.pid),
  /** Returns the start time as /proc/PID/stat shows it, or null if the process does not exist or has ended. */
  startTime(pid: number): string | null {
    const found = stat(pid);
    return found === null || isOver(found) ? null : found.startTime;
  },
};

/** The same for other systems than Linux, with `ps` and `sysctl` instead of /proc. */
const portable: ProcessIdentity = {
  bootId: () => run('sysctl', ['-n', 'kern.bootsessionuuid']) ?? 'unknown',
  pidNamespace: () => 'none',
  showsOwnPids: () => true,
  startTime: (pid) => ps(['-o', 'lstart=', '-p', String(pid)]),
};

export const processIdentity = process.platform === 'linux' ? linux : portable;

/** Returns a list with the time namespace of this process. It is empty for the initial one, in which most workers run. */
function ownTimeNamespace(): string[] {
  // An older kernel has no time namespaces.
  const name = orNull(() => readlinkSync('/proc/self/ns/time'));
  return name === null || name === INITIAL_TIME_NAMESPACE ? [] : [name];
}

/** Returns what `ps` prints, or null if it fails or prints nothing. */
export function ps(args: string[]): string | null {
  return run('ps', args);
}

function run(program: string, args: string[]): string | null {
  return orNull(
    () =>
      execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() || null,
  );
}

/** Some of the fields of /proc/PID/stat, see proc(5). `startTime` is in clock ticks since the boot. */
export interface ProcStat {
  comm: string;
  state: string;
  parent: number;
  group: number;
  session: number;
  flags: number;
  startTime: string;
}

/** Reads /proc/PID/stat. Returns null if there is no such process. */
export function stat(pid: number): ProcStat | null {
  const text = maybeRead(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name in parentheses may itself contain spaces and parentheses, so fields are counted from its end.
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  return {
    comm: text.slice(text.indexOf('(') + 1, end),
    state: fields[0]!,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    flags: Number(fields[6]),
    startTime: fields[19]!,
  };
}

/** Tells whether the process has ended and only waits for its parent to reap it. */
export function isOver({ state }: ProcStat): boolean {
  return state === 'Z' || state === 'X';
}
