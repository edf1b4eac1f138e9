import { statSync } from 'node:fs';

/** Tells whether a process runs the same executable as this one. Returns null if the system does not tell. */
export function runsThisExecutable(pid: number): boolean | null {
  return isThisExecutable(`/proc/${pid}/exe`);
}

/** Tells whether this path leads to the executable of this process. Returns null if the system does not tell. */
export function isThisExecutable(path: string): boolean | null {
  try {
    const theirs = statSync(path);
    const ours = statSync('/proc/self/exe');
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    return null;
  }
}
