import { statSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';

/** Tells whether a process runs the same executable as this one. Returns null if the system does not tell. */
export function runsThisExecutable(pid: number): boolean | null {
  return isThisExecutable(`/proc/${pid}/exe`);
}

/** Tells whether a path leads to the executable of this process. Returns null if the system does not tell. */
export function isThisExecutable(path: string): boolean | null {
  return orNull(() => {
    const [other, current] = [statSync(path), statSync('/proc/self/exe')];
    return other.dev === current.dev && other.ino === current.ino;
  });
}
