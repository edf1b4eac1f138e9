import { renameSync, rmSync, statfsSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { crashPoint } from '../core/crash-point.ts';
import type { StateDirectory } from './state-directory.ts';

const LARGEST_BALLAST_BYTES = 1024 * 1024;
/** A smaller file system gets no ballast, because it has no space to spare. */
const SMALLEST_DISK_BYTES = 4 * LARGEST_BALLAST_BYTES;
/** The ballast takes at most one part in this many of the file system. */
const DISK_PARTS = 16;
/** The ballast is created only while this many times its size is free. */
const FREE_FACTOR = 4;

/** Creates the ballast if there is none and enough space is free. `freeBallast` removes it on a full disk. Ignores errors. */
export function makeBallast({ ballast: file, path }: StateDirectory): void {
  const draft = `${file}.${process.pid}`;
  try {
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) return;
    const { blocks, bavail, bsize } = statfsSync(path);
    const size = ballastSize(Number(blocks) * Number(bsize));
    if (size === 0 || Number(bavail) * Number(bsize) < FREE_FACTOR * size) return;
    crashPoint('before-ballast');
    writeFileSync(draft, Buffer.alloc(size), { mode: 0o600, flag: 'wx' });
    crashPoint('in-ballast');
    renameSync(draft, file);
    crashPoint('after-ballast');
  } catch {
    // Without ballast, nothing fails until the disk is full. The next heartbeat tries again.
    rmSync(draft, { force: true });
  }
}

function ballastSize(diskBytes: number): number {
  return diskBytes < SMALLEST_DISK_BYTES
    ? 0
    : Math.min(LARGEST_BALLAST_BYTES, Math.floor(diskBytes / DISK_PARTS));
}

/** Removes the ballast, because even deleting jobs needs disk space. Returns false if there is none or it cannot be removed. */
export function freeBallast({ ballast }: StateDirectory): boolean {
  crashPoint('before-free-ballast');
  try {
    unlinkSync(ballast);
    crashPoint('after-free-ballast');
    return true;
  } catch {
    return false;
  }
}
