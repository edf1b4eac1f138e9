import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { QueueError, usageError } from '../core/errors.ts';
import { orNull } from '../core/or-null.ts';
import { openTemporaryFile } from '../files/temporary-file.ts';
import { isTerminal } from './io.ts';
import { openFile, readFrom } from './read-file.ts';

/** A file that can be read in pieces, and from its beginning as often as needed. */
export interface TextFile {
  readonly size: number;
  /** The number of bytes that the current pass through `chunks` has read. */
  readonly bytesRead: number;
  readonly chunks: Iterable<string>;
  close(): void;
}

const CHUNK_BYTES = 256 * 1024;

/**
 * Opens a text file, or standard input for `-`. Standard input, and any file that cannot be read twice, is first copied to
 * a temporary file. Meanwhile, `onCopied` is called with the number of bytes copied so far.
 */
export function openTextFile(file: string, onCopied: (bytes: number) => void): TextFile {
  if (file === '-' && isTerminal(0))
    throw usageError(
      '--file - reads standard input, but standard input is a terminal',
      'for example: queuectl enqueue --file jobs.txt',
    );
  const name = file === '-' ? 'standard input' : file;
  const inputFd = file === '-' ? 0 : openFile(name);
  const fd =
    inputFd !== 0 && fstatSync(inputFd).isFile() ? inputFd : copyToTemporaryFile(inputFd, name, onCopied);
  if (inputFd !== fd && inputFd !== 0) closeSync(inputFd);
  const size = fstatSync(fd).size;
  let bytesRead = 0;
  return {
    size,
    get bytesRead() {
      return bytesRead;
    },
    chunks: {
      *[Symbol.iterator]() {
        const decoder = new TextDecoder('utf-8', { fatal: true });
        const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
        for (bytesRead = 0; ; ) {
          const bytes = readFrom(fd, buffer, bytesRead, name);
          bytesRead += bytes;
          const read = buffer.subarray(0, bytes);
          yield orNull(() => decoder.decode(read, { stream: bytes > 0 })) ?? throwNotUtf8(fd, name);
          if (bytes === 0) return;
        }
      },
    },
    close: () => closeSync(fd),
  };
}

/** Copies the input to a temporary file. Returns its descriptor. */
function copyToTemporaryFile(from: number, name: string, onCopied: (bytes: number) => void): number {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    const fd = openTemporaryFile();
    for (let total = 0; ; ) {
      const bytes = readFrom(from, buffer, null, name);
      if (bytes === 0) return fd;
      for (let at = 0; at < bytes; ) at += writeSync(fd, buffer, at, bytes - at);
      total += bytes;
      onCopied(total);
    }
  } catch (error) {
    if (error instanceof QueueError) throw error;
    throw new QueueError(
      'no-such-file',
      `cannot copy ${name} to ${tmpdir()}: ${(error as Error).message}`,
      'set TMPDIR to a directory with enough space',
    );
  }
}

/** Reads the file from its beginning, and throws an error with the number of the line that is not UTF-8. */
function throwNotUtf8(fd: number, name: string): never {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;
  for (let at = 0; ; ) {
    const bytes = readFrom(fd, buffer, at, name);
    at += bytes;
    rest = Buffer.concat([rest, buffer.subarray(0, bytes)]);
    for (let end = rest.indexOf(10); end !== -1 && isUtf8(rest.subarray(0, end)); end = rest.indexOf(10)) {
      rest = rest.subarray(end + 1);
      line++;
    }
    if (bytes === 0 || rest.includes(10))
      throw new QueueError('no-such-file', `${name} is not valid UTF-8 text on line ${line}`);
  }
}
