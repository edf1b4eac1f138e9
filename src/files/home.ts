import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';

/** A directory that is there, whatever becomes of those of the jobs. */
export function homeDirectory(): string {
  try {
    const home = homedir();
    return isAbsolute(home) && statSync(home).isDirectory() ? home : '/';
  } catch {
    // Nobody's home: a user without an entry, or a service whose home was never made.
    return '/';
  }
}

/** The home of whoever owns a path, as the system's list of users has it. */
export function homeOf(path: string): string {
  try {
    const owner = statSync(path).uid;
    if (owner === process.getuid?.()) return homeDirectory();
    const entry = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .find((fields) => Number(fields[2]) === owner && fields.length > 5);
    return entry?.[5] || '/';
  } catch {
    return '/';
  }
}
