import { readlinkSync } from 'node:fs';
import { namesIn } from './names-in.ts';

/** Returns the pids of other processes that have one of these files open, as far as /proc shows. A removed file is `PATH (deleted)`. */
export function holdersOf(...paths: string[]): number[] {
  const pids = namesIn('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  return pids.filter((pid) =>
    namesIn(`/proc/${pid}/fd`).some((fd) => paths.includes(target(`/proc/${pid}/fd/${fd}`) ?? '')),
  );
}

function target(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}
