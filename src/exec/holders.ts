import { readlinkSync } from 'node:fs';
import { namesIn } from './names-in.ts';

/**
 * The other processes that have this file open, as far as this user may see; none where the system does not tell. Works for
 * a database that cannot be read any more, too.
 */
export function holdersOf(path: string): number[] {
  const pids = namesIn('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  return pids.filter((pid) =>
    namesIn(`/proc/${pid}/fd`).some((fd) => target(`/proc/${pid}/fd/${fd}`) === path),
  );
}

function target(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}
