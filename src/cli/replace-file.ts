import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';

/** Replaces a file atomically. A reader sees the old text or the new text, never a part of it. */
export function replaceFile(path: string, text: string): void {
  const beside = `${path}.${process.pid}.new`;
  try {
    const fd = openSync(beside, 'wx', 0o644);
    try {
      const data = Buffer.from(text);
      for (let at = 0; at < data.length; ) at += writeSync(fd, data, at);
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
