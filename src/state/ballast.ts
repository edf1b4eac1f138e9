import { renameSync, rmSync, statfsSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { inSteps } from '../core/crash-point.ts';
import { orNull } from '../core/text/language.ts';
import type { StateDirectory } from './state-directory.ts';

const LARGEST_BALLAST_BYTES = 1024 * 1024;
/** A smaller file system gets no ballast, because it has no space to spare. */
const SMALLEST_DISK_BYTES = 4 * LARGEST_BALLAST_BYTES;
/** The ballast takes at most one part in this many of the file system. */
const DISK_PARTS = 16;
/** The ballast is created only while this many times its size is free. */
const FREE_FACTOR = 4;

/** Creates the ballast if there is none or it was freed, and enough space is free. Ignores errors. */
export function makeBallast({ ballast: file, path }: StateDirectory): void {
  const draft = `${file}.${process.pid}`;
  try {
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
    const { blocks, bavail, bsize } = statfsSync(path);
    const size = ballastSize(Number(blocks) * Number(bsize));
    if (size === 0 || Number(bavail) * Number(bsize) < FREE_FACTOR * size) return;
    const write = (): void => writeFileSync(draft, Buffer.alloc(size), { mode: 0o600, flag: 'wx' });
    inSteps('ballast', write, () => renameSync(draft, file));
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

/** Tells whether the ballast was freed on a full disk and could not be made again since. Until then, no new jobs should start. */
export const isBallastFreed = ({ ballast }: StateDirectory): boolean =>
  orNull(() => statSync(ballast, { throwIfNoEntry: false }))?.size === 0;

/**
 * Frees the space of the ballast, because even deleting jobs needs disk space. The empty file shows all processes that the ballast
 * was freed. Returns false if there is nothing to free.
 */
export function freeBallast(state: StateDirectory): boolean {
  try {
    if (isBallastFreed(state)) return false;
    inSteps('free-ballast', () => truncateSync(state.ballast));
    return true;
  } catch {
    return false;
  }
}
