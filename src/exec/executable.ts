import { statSync } from 'node:fs';

/** Whether a process runs the same executable as this one; null: the system does not tell. */
export function runsThisExecutable(pid: number): boolean | null {
  return isSame(`/proc/${pid}/exe`);
}

/** Whether this path leads to the executable of this process. */
export function isThisExecutable(path: string): boolean {
  return isSame(path) === true;
}

function isSame(path: string): boolean | null {
  try {
    const theirs = statSync(path);
    const ours = statSync('/proc/self/exe');
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    return null;
  }
}
