import { readlinkSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';
import { namesIn } from './names-in.ts';

/** Returns the pids of other processes that have one of these files open, as far as /proc shows. For a removed file, pass `PATH (deleted)`. */
export function pidsWithOpen(...paths: string[]): number[] {
  const pids = namesIn('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  return pids.filter((pid) =>
    namesIn(`/proc/${pid}/fd`).some((fd) =>
      paths.includes(orNull(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? ''),
    ),
  );
}
