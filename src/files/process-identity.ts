import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';
import { isOver, stat } from './proc-stat.ts';

/** Identifies processes, because a pid is reused, and is meaningless after a restart or in another pid namespace. */
export type ProcessIdentity = typeof linux;

/** The kernel gives the first time namespace this fixed number (PROC_TIME_INIT_INO). */
const FIRST_TIME_NAMESPACE = 'time:[4026531834]';

const linux = {
  bootId: (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
  /** Identifies where pids and start times are comparable. Each time namespace shows start times of its own. */
  pidNamespace: (): string => [readlinkSync('/proc/self/ns/pid'), ...ownTimeNamespace()].join(' '),
  /** Tells whether the pids that the system lists are those of this process's own pid namespace. */
  showsOwnPids: (): boolean => orNull(() => readlinkSync('/proc/self')) === String(process.pid),
  /** Returns when a process started, in the kernel's own count; null: there is none, or only its zombie. */
  startTime(pid: number): string | null {
    const about = stat(pid);
    return about === null || isOver(about) ? null : about.startTime;
  },
};

/** Where there is no /proc, `ps` lists start times. */
const portable: ProcessIdentity = {
  bootId: () => run('sysctl', ['-n', 'kern.bootsessionuuid']) ?? 'unknown',
  pidNamespace: () => 'none',
  showsOwnPids: () => true,
  startTime: (pid) => ps(['-o', 'lstart=', '-p', String(pid)]),
};

export const processIdentity = process.platform === 'linux' ? linux : portable;

/** Returns nothing for the first time namespace of the machine, so that the identity of most workers has no such part. */
function ownTimeNamespace(): string[] {
  // An older kernel has no time namespaces.
  const name = orNull(() => readlinkSync('/proc/self/ns/time'));
  return name === null || name === FIRST_TIME_NAMESPACE ? [] : [name];
}

/** Returns what `ps` prints, or null. */
export function ps(args: string[]): string | null {
  return run('ps', args);
}

function run(program: string, args: string[]): string | null {
  return orNull(
    () =>
      execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() || null,
  );
}
