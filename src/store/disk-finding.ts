import { statfsSync } from 'node:fs';
import { type Finding, fail, ok, warn } from '../core/rules/finding.ts';
import { formatBytes } from '../core/text/numbers.ts';

const LOW_DISK_BYTES = 256 * 1024 ** 2;
const FULL_DISK_BYTES = 16 * 1024 ** 2;
const FIX = 'free some disk space, or run queuectl prune';

/** Returns the finding of `doctor` about the free space on the disk of a directory. */
export function diskFinding(directory: string): Finding {
  const { bavail, bsize } = statfsSync(directory);
  const freeBytes = Number(bavail) * Number(bsize);
  const disk = `${formatBytes(freeBytes)} free`;
  if (freeBytes < FULL_DISK_BYTES) return fail('disk', disk, FIX);
  return freeBytes < LOW_DISK_BYTES ? warn('disk', disk, FIX) : ok('disk', disk);
}
