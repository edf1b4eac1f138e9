import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { maybeRead } from './maybe-read.ts';

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
