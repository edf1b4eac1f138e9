import { QueueError } from '../core/errors.ts';
import { writeAtomically } from '../files/atomic.ts';

const REASONS: Record<string, string> = {
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'a part of its path is not a directory',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EROFS: 'read-only file system',
  ENOSPC: 'the disk is full',
};

/** Creates or replaces a file atomically. A reader sees the old text or the new text, never a part of it. */
export function replaceFile(path: string, text: string): void {
  try {
    writeAtomically(path, text, { replace: true, mode: 0o644, sync: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new QueueError('no-such-file', `cannot write ${path}: ${REASONS[String(code)] ?? message}`);
  }
}
