import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';

/** Returns the home directory of this user, or / if there is none. */
export function homeDirectory(): string {
  try {
    const home = homedir();
    return isAbsolute(home) && statSync(home).isDirectory() ? home : '/';
  } catch {
    // The user has no entry in the user database, or the home directory does not exist.
    return '/';
  }
}

/** Returns the home directory of the owner of a path. For another user it is the one in /etc/passwd. Returns / if there is none. */
export function homeOfOwner(path: string): string {
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
