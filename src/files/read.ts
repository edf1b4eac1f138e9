import { closeSync, constants, fstatSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { orNull } from '../core/text/language.ts';

/** Returns the names in a directory, or none if it does not exist or cannot be read. */
export function namesIn(directory: string): string[] {
  return orNull(() => readdirSync(directory)) ?? [];
}

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

const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Opens a regular file of this user, or of any user for root. Returns 'odd' for anything else, such as a link, and if it cannot be opened. */
export function openRegular(path: string, flags = constants.O_RDONLY): number | 'absent' | 'odd' {
  let file: number;
  try {
    file = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'absent' : 'odd';
  }
  const stat = fstatSync(file);
  const uid = process.getuid?.();
  if (stat.isFile() && (uid === undefined || uid === 0 || stat.uid === uid)) return file;
  closeSync(file);
  return 'odd';
}
