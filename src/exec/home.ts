import { statSync } from 'node:fs';
import { homedir } from 'node:os';

/** A directory that is there, whatever becomes of those of the jobs. */
export function homeDirectory(): string {
  try {
    const home = homedir();
    return statSync(home).isDirectory() ? home : '/';
  } catch {
    // Nobody's home: a user without an entry, or a service whose home was never made.
    return '/';
  }
}
