import { closeSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QueueError } from '../core/errors.ts';

const CHUNK_BYTES = 256 * 1024;

/** Opens a new file without a name, which no other process can open. It is gone when the process ends. Returns its descriptor. */
export function openTemporaryFile(): number {
  const path = join(tmpdir(), `queuectl-${process.pid}-${Math.random().toString(36).slice(2)}`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return file;
}

/** A text that is too long for the memory. It can be read from its beginning as often as needed. */
export interface TemporaryText {
  /** The number of bytes that were written. */
  readonly size: number;
  /** The number of bytes that the current pass through `chunks` has read. */
  readonly bytesRead: number;
  write(text: string): void;
  /** Removes what was written. */
  clear(): void;
  readonly chunks: Iterable<string>;
  close(): void;
}

/** Creates a text in a temporary file. Its errors name the directory of such files. */
export function createTemporaryText(): TemporaryText {
  const file = orExplain(openTemporaryFile);
  let size = 0;
  let bytesRead = 0;
  return {
    get size() {
      return size;
    },
    get bytesRead() {
      return bytesRead;
    },
    write(text) {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; )
        at += orExplain(() => writeSync(file, bytes, at, bytes.length - at, size + at));
      size += bytes.length;
    },
    clear() {
      orExplain(() => ftruncateSync(file));
      size = 0;
    },
    chunks: {
      *[Symbol.iterator]() {
        const decoder = new TextDecoder();
        const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
        for (bytesRead = 0; bytesRead < size; ) {
          const bytes = orExplain(() => readSync(file, buffer, 0, buffer.length, bytesRead));
          if (bytes === 0) return;
          bytesRead += bytes;
          yield decoder.decode(buffer.subarray(0, bytes), { stream: true });
        }
      },
    },
    close: () => closeSync(file),
  };
}

function orExplain<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new QueueError(
      code === 'ENOSPC' ? 'disk-full' : 'no-such-file',
      `cannot use a temporary file in ${tmpdir()}: ${message}`,
      'set TMPDIR to a directory with enough space',
    );
  }
}
