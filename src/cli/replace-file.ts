import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';
import { writeAll } from '../files/write-all.ts';

/** Whoever reads the file sees the old text or the new one, never half of it. */
export function replaceFile(path: string, text: string): void {
  const beside = `${path}.${process.pid}.new`;
  try {
    const fd = openSync(beside, 'wx', 0o644);
    try {
      writeAll(fd, Buffer.from(text));
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw new QueueError('no-such-file', `cannot write ${path}: ${(error as Error).message}`);
  }
}
