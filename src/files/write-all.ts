import { closeSync, openSync, readSync, writeSync } from 'node:fs';

const CHUNK = 1024 * 1024;

/** Writes all of the data, however many calls that takes. */
export function writeAll(file: number, data: Uint8Array | string): void {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/** Copies an open file to a path that only this user can read. */
export function copyBytes(from: number, to: string): void {
  const out = openSync(to, 'w', 0o600);
  try {
    const buffer = Buffer.alloc(CHUNK);
    for (let at = 0; ; ) {
      const read = readSync(from, buffer, 0, CHUNK, at);
      if (read === 0) return;
      writeAll(out, buffer.subarray(0, read));
      at += read;
    }
  } finally {
    closeSync(out);
  }
}
