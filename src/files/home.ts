import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';

/** Returns the home directory of this user, or / if it does not exist. */
export function homeDirectory(): string {
  try {
    const home = homedir();
    return isAbsolute(home) && statSync(home).isDirectory() ? home : '/';
  } catch {
    // A user without an entry, or a service whose home was never made.
    return '/';
  }
}

/** Returns the home directory of the owner of a path, as /etc/passwd has it. */
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
