import { closeSync, openSync, readSync, writeSync } from 'node:fs';

const CHUNK_BYTES = 1024 * 1024;

/** Writes all of the data, with as many system calls as that takes. */
export function writeAll(file: number, data: Uint8Array | string): void {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/** Copies the contents of an open file to a path. If the file there is new, only this user can read it. */
export function copyBytes(from: number, to: string): void {
  const out = openSync(to, 'w', 0o600);
  try {
    const buffer = Buffer.alloc(CHUNK_BYTES);
    for (let at = 0; ; ) {
      const read = readSync(from, buffer, 0, CHUNK_BYTES, at);
      if (read === 0) return;
      writeAll(out, buffer.subarray(0, read));
      at += read;
    }
  } finally {
    closeSync(out);
  }
}
