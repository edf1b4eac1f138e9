import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { orNull } from '../core/text/language.ts';

/** Reads a file as a string with one character per byte (Latin-1). Returns null if it cannot be read. */
export function maybeRead(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}

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

/** The flag to open a file without access to its contents, so that closing it drops none of the locks of this process. */
const O_PATH = 0o10000000;

/** Tells whether something is mounted on this very path, such as a single file in a container. Returns false where this is unknown. */
export function isMountPoint(path: string): boolean {
  if (process.platform !== 'linux') return false;
  const mount = mountIdOf(path);
  return mount !== null && mount !== (mountIdOf(dirname(path)) ?? mount);
}

function mountIdOf(path: string): string | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, O_PATH);
  } catch {
    return null;
  }
  const info = maybeRead(`/proc/self/fdinfo/${descriptor}`) ?? '';
  closeSync(descriptor);
  const at = info.indexOf('mnt_id:');
  return at === -1
    ? null
    : info
        .slice(at + 'mnt_id:'.length)
        .trim()
        .split('\n', 1)[0]!;
}

/** The variable that replaces the name of this host, for example in a container with a random name. */
export const HOST_NAME_VARIABLE = 'QUEUECTL_HOSTNAME';

/** Returns the name of this host. On Linux it is read from a file, because loading node:os takes longer. */
export function hostName(environment: NodeJS.ProcessEnv = process.env): string {
  return (
    environment[HOST_NAME_VARIABLE] ||
    maybeRead('/proc/sys/kernel/hostname')?.trim() ||
    process.getBuiltinModule('node:os').hostname()
  );
}
