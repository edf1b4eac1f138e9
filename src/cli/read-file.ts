import { openSync, readSync } from 'node:fs';
import { pauseSync } from '../core/clock.ts';
import { QueueError } from '../core/errors.ts';

const REASONS: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a directory',
  EACCES: 'is not readable: permission denied',
};

/** Opens a file for reading. Throws an error with the reason if that fails. */
export function openFile(name: string): number {
  try {
    return openSync(name, 'r');
  } catch (error) {
    throw unreadableError(name, error);
  }
}

/** Reads the bytes at offset `at`, or the next ones if it is null. Returns their number, which is 0 at the end. */
export function readFrom(fd: number, buffer: Buffer, at: number | null, name: string): number {
  for (;;) {
    try {
      return readSync(fd, buffer, 0, buffer.length, at);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EOF') return 0;
      // EAGAIN means that the input is a non-blocking pipe without data.
      if (code !== 'EAGAIN') throw unreadableError(name, error);
      pauseSync(5);
    }
  }
}

/** Returns an error with the reason why a file cannot be read. */
export function unreadableError(name: string, error: unknown): QueueError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new QueueError('no-such-file', `${name} ${REASONS[String(code)] ?? `cannot be read: ${message}`}`);
}
