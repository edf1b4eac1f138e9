import {
  closeSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { crashPoint } from '../core/crash-point.ts';
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
  const draft = `${file}.${process.pid}`;
  try {
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) return;
    const { blocks, bavail, bsize } = statfsSync(path);
    const size = ballastSize(Number(blocks) * Number(bsize));
    if (size === 0 || Number(bavail) * Number(bsize) < PLENTY * size) return;
    crashPoint('before-ballast');
    const out = openSync(draft, 'wx', 0o600);
    try {
      const zeros = Buffer.alloc(65_536);
      for (let at = 0; at < size; at += zeros.length)
        writeSync(out, zeros, 0, Math.min(zeros.length, size - at));
    } finally {
      closeSync(out);
    }
    crashPoint('in-ballast');
    renameSync(draft, file);
    crashPoint('after-ballast');
  } catch {
    // Without it everything works but on a full disk.
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
