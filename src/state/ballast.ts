import { statfsSync, statSync, unlinkSync } from 'node:fs';
import { crashPoint } from '../core/crash-point.ts';
import { writeAtomically } from '../files/atomic.ts';
import type { StateDirectory } from './state-directory.ts';

const MOST = 1024 * 1024;
/** On a smaller file system the space that the ballast takes would be missed. */
const SMALLEST_DISK = 4 * MOST;
const SHARE = 16;
/** The ballast is made only while this many times its size is free. */
const PLENTY = 4;

/**
 * Makes a file that is there to be removed: a store needs room to settle and delete jobs, too, and on a full disk there is
 * none. Any worker makes it while there is plenty.
 */
export function keepBallast({ ballast: file, path }: StateDirectory): void {
  try {
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) return;
    const { blocks, bavail, bsize } = statfsSync(path);
    const size = ballastSize(Number(blocks) * Number(bsize));
    if (size === 0 || Number(bavail) * Number(bsize) < PLENTY * size) return;
    const draft = `${file}.${process.pid}`;
    crashPoint('before-ballast');
    writeAtomically(file, Buffer.alloc(size), {
      draft,
      replace: true,
      sync: false,
      beforeNaming: () => crashPoint('in-ballast'),
    });
    crashPoint('after-ballast');
  } catch {
    // Without it everything works but on a full disk.
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
