import { closeSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Opens a file without access to its contents. Closing it then drops none of the locks that this process holds on it. */
const O_PATH = 0o10000000;

/** Tells whether something is mounted on this very path, such as a single file in a container. Returns false where this is unknown. */
export function isMountPoint(path: string): boolean {
  if (process.platform !== 'linux') return false;
  const mount = mountOf(path);
  return mount !== null && mount !== (mountOf(dirname(path)) ?? mount);
}

function mountOf(path: string): string | null {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, O_PATH);
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    return /^mnt_id:\s*(\d+)$/m.exec(info)?.[1] ?? null;
  } catch {
    return null;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
