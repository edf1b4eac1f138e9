import { statSync } from 'node:fs';

/** Whether a process runs the same executable as this one; null: the system does not tell. */
export function runsThisExecutable(pid: number): boolean | null {
  try {
    const theirs = statSync(`/proc/${pid}/exe`);
    const ours = statSync('/proc/self/exe');
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    return null;
  }
}
