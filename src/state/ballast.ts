import { renameSync, rmSync, statfsSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { crashPoint } from '../core/crash-point.ts';
import type { StateDirectory } from './state-directory.ts';

const MOST = 1024 * 1024;
/** On a smaller file system the space that the ballast takes would be missed. */
const SMALLEST_DISK = 4 * MOST;
const SHARE = 16;
/** The ballast is made only while this many times its size is free. */
const PLENTY = 4;

/** Makes the ballast while there is room. It is removed on a full disk, because even deleting jobs needs room. */
export function keepBallast({ ballast: file, path }: StateDirectory): void {
  const draft = `${file}.${process.pid}`;
  try {
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) return;
    const { blocks, bavail, bsize } = statfsSync(path);
    const size = ballastSize(Number(blocks) * Number(bsize));
    if (size === 0 || Number(bavail) * Number(bsize) < PLENTY * size) return;
    crashPoint('before-ballast');
    writeFileSync(draft, Buffer.alloc(size), { mode: 0o600, flag: 'wx' });
    crashPoint('in-ballast');
    renameSync(draft, file);
    crashPoint('after-ballast');
  } catch {
    // Everything works without it, except on a full disk.
    rmSync(draft, { force: true });
  }
}

function ballastSize(disk: number): number {
  return disk < SMALLEST_DISK ? 0 : Math.min(MOST, Math.floor(disk / SHARE));
}

/** Removes the ballast. Returns false if there was none. */
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
