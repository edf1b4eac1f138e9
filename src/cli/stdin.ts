import { isUtf8 } from 'node:buffer';
import { closeSync } from 'node:fs';
import { invalidValue, usageError } from '../core/errors.ts';
import { STDIN_LIMIT, stdinTooLong } from '../core/stdin.ts';
import { isTerminal } from './io.ts';
import { openFile, readFrom } from './read-file.ts';

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
