import { openSync, readSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';

const EAGAIN_PAUSE = new Int32Array(new SharedArrayBuffer(4));

const REASONS: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a directory',
  EACCES: 'is not readable: permission denied',
};

/** Refused in words when it cannot be. */
export function openFile(name: string): number {
  try {
    return openSync(name, 'r');
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** The next bytes, or those at a place; 0 at the end. */
export function readFrom(fd: number, buffer: Buffer, at: number | null, name: string): number {
  for (;;) {
    try {
      return readSync(fd, buffer, 0, buffer.length, at);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EOF') return 0;
      // Somebody made the pipe non-blocking.
      if (code !== 'EAGAIN') throw unreadable(name, error);
      Atomics.wait(EAGAIN_PAUSE, 0, 0, 5);
    }
  }
}

function unreadable(name: string, error: unknown): QueueError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new QueueError('no-such-file', `${name} ${REASONS[String(code)] ?? `cannot be read: ${message}`}`);
}
