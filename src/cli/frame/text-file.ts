import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { invalidValue, QueueError, usageError } from '../../core/errors.ts';
import { STDIN_LIMIT, stdinTooLong } from '../../core/jobs/read-field.ts';
import { pauseSync } from '../../core/time/clock.ts';
import { CHUNK_BYTES, openTemporaryFile, type TextFile, textIn } from '../../files/text-file.ts';
import { isTerminal } from './io.ts';

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
  return textIn(
    fd,
    (buffer, at) => readFrom(fd, buffer, at, name),
    () => throwNotUtf8(fd, name),
  );
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

const REASONS: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a directory',
  EACCES: 'is not readable: permission denied',
};

export function openFile(name: string): number {
  try {
    return openSync(name, 'r');
  } catch (error) {
    throw unreadableError(name, error);
  }
}

/** Reads the bytes at offset `at`, or the next ones if it is null. Returns their number, which is 0 at the end. */
function readFrom(fd: number, buffer: Buffer, at: number | null, name: string): number {
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

export function unreadableError(name: string, error: unknown): QueueError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new QueueError('no-such-file', `${name} ${REASONS[String(code)] ?? `cannot be read: ${message}`}`);
}

/** Returns the text for --stdin: the value itself, the contents of `@FILE`, or standard input for `-`. `jobFile` is --file. */
export function readStdinFlag(text: string, jobFile: string | undefined): string {
  if (text !== '-' && !text.startsWith('@')) return text;
  if (text === '-' && jobFile === '-')
    throw usageError('--stdin - and --file - cannot both read standard input');
  if (text === '-' && isTerminal(0)) {
    throw usageError(
      '--stdin - reads standard input, but standard input is a terminal',
      "for example: queuectl enqueue --stdin 'the text' 'wc -w'",
    );
  }
  if (text === '@') throw invalidValue('--stdin: the file name after @ is missing');
  const bytes = readAll(text === '-' ? null : text.slice(1));
  if (isUtf8(bytes)) return bytes.toString();
  throw invalidValue(
    `--stdin: ${text === '-' ? 'standard input' : text.slice(1)} is not valid UTF-8 text`,
    "let the command read the file itself: queuectl enqueue 'gzip <data.bin'",
  );
}

/** Reads a file, or standard input if `file` is null. Throws beyond the limit, because a device may have no end. */
function readAll(file: string | null): Buffer {
  const name = file ?? 'standard input';
  const fd = file === null ? 0 : openFile(file);
  try {
    const buffer = Buffer.allocUnsafe(STDIN_LIMIT + 1);
    let at = 0;
    while (at < buffer.length) {
      const bytes = readFrom(fd, buffer.subarray(at), null, name);
      if (bytes === 0) return buffer.subarray(0, at);
      at += bytes;
    }
    throw stdinTooLong(`--stdin: ${name}`);
  } finally {
    if (fd !== 0) closeSync(fd);
  }
}
