import { readdirSync, readlinkSync } from 'node:fs';

/**
 * The other processes that have this file open, as far as this user may see; none where the system does not tell. Works for
 * a database that cannot be read any more, too.
 */
export function holdersOf(path: string): number[] {
  const pids = names('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  return pids.filter((pid) =>
    names(`/proc/${pid}/fd`).some((fd) => target(`/proc/${pid}/fd/${fd}`) === path),
  );
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function target(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}
