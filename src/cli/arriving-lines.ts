import { isUtf8 } from 'node:buffer';
import { closeSync, read } from 'node:fs';
import { pause } from '../core/clock.ts';
import { QueueError } from '../core/errors.ts';
import { openFile, unreadableError } from './read-file.ts';

/** A line without its line break, and its number. The text is null if the line is not UTF-8 or too long. */
export interface ArrivingLine {
  text: string | null;
  line: number;
}

const CHUNK_BYTES = 64 * 1024;
const MAX_LINE_BYTES = 16 * 1024 ** 2;

/**
 * Yields the lines of a file, or of standard input for `-`, as soon as each of them is complete. Timers go on meanwhile, because
 * a process that has a store open must notice that its files were removed.
 */
export async function* arrivingLines(file: string): AsyncGenerator<ArrivingLine> {
  const name = file === '-' ? 'standard input' : file;
  const fd = file === '-' ? 0 : openFile(name);
  try {
    let line = 1;
    let rest: Buffer[] = [];
    let length = 0;
    for (;;) {
      const chunk = await readChunk(fd, name);
      if (chunk.length === 0) break;
      let start = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        yield { text: toText([...rest, chunk.subarray(start, end)]), line: line++ };
        rest = [];
        length = 0;
        start = end + 1;
      }
      length += chunk.length - start;
      if (length > MAX_LINE_BYTES)
        throw new QueueError('invalid-job', `line ${line}: the job is larger than 16 MiB`);
      if (start < chunk.length) rest.push(chunk.subarray(start));
    }
    if (rest.length > 0) yield { text: toText(rest), line };
  } finally {
    if (fd !== 0) closeSync(fd);
  }
}

/** Returns the next bytes, or none at the end of the input. */
async function readChunk(fd: number, name: string): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    try {
      const bytes = await new Promise<number>((resolve, reject) => {
        read(fd, buffer, 0, buffer.length, null, (error, count) => (error ? reject(error) : resolve(count)));
      });
      return buffer.subarray(0, bytes);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EOF') return buffer.subarray(0, 0);
      // EAGAIN means that the input is a non-blocking pipe without data.
      if (code !== 'EAGAIN') throw unreadableError(name, error);
      await pause(5);
    }
  }
}

function toText(parts: Buffer[]): string | null {
  const bytes = Buffer.concat(parts);
  return isUtf8(bytes) ? bytes.toString() : null;
}
