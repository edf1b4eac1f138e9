import { closeSync, fstatSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QueueError } from '../core/errors.ts';
import { orNull } from '../core/text/language.ts';

/** A text that may be too long for the memory. It can be read in pieces, from its beginning as often as needed. */
export interface TextFile {
  readonly size: number;
  /** The number of bytes that the current pass through `chunks` has read. */
  readonly bytesRead: number;
  readonly chunks: Iterable<string>;
  close(): void;
}

export const CHUNK_BYTES = 256 * 1024;

/** Opens a new file without a name, which no other process can open. It is gone when the process ends. Returns its descriptor. */
export function openTemporaryFile(): number {
  const path = join(tmpdir(), `queuectl-${process.pid}-${Math.random().toString(36).slice(2)}`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return file;
}

/** Returns the text in an open file. `read` fills a buffer from a position. `throwNotUtf8` is called if the file is not a text. */
export function textIn(
  file: number,
  read: (buffer: Buffer, at: number) => number,
  throwNotUtf8 = (): never => {
    throw new Error('the text is not valid UTF-8');
  },
): TextFile {
  let bytesRead = 0;
  return {
    size: fstatSync(file).size,
    get bytesRead() {
      return bytesRead;
    },
    chunks: {
      *[Symbol.iterator]() {
        const decoder = new TextDecoder('utf-8', { fatal: true });
        const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
        for (bytesRead = 0; ; ) {
          const bytes = read(buffer, bytesRead);
          bytesRead += bytes;
          const part = buffer.subarray(0, bytes);
          yield orNull(() => decoder.decode(part, { stream: bytes > 0 })) ?? throwNotUtf8();
          if (bytes === 0) return;
        }
      },
    },
    close: () => closeSync(file),
  };
}

/** A text in a temporary file. Its errors name the directory of such files. */
export interface TemporaryText {
  write(text: string): void;
  /** Returns what was written. */
  read(): TextFile;
  close(): void;
}

export function createTemporaryText(): TemporaryText {
  const file = orExplain(openTemporaryFile);
  let size = 0;
  return {
    write(text) {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; )
        at += orExplain(() => writeSync(file, bytes, at, bytes.length - at, size + at));
      size += bytes.length;
    },
    read: () => textIn(file, (buffer, at) => orExplain(() => readSync(file, buffer, 0, buffer.length, at))),
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
