import { QueueError } from '../core/errors.ts';
import { writeAtomically } from '../files/atomic.ts';

/** Replaces a file atomically. A reader sees the old text or the new text, never a part of it. */
export function replaceFile(path: string, text: string): void {
  try {
    writeAtomically(path, text, { replace: true, mode: 0o644, sync: true });
  } catch (error) {
    throw new QueueError('no-such-file', `cannot write ${path}: ${(error as Error).message}`);
  }
}
