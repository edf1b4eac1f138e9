import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TempDir {
  path: string;
  remove(): void;
}

/** Creates a directory for one test. Its path has no symbolic links, because a store resolves them in its own path. */
export function makeTempDir(): TempDir {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'queuectl-test-')));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Runs a test in a new directory and removes the directory, however the test ends. */
export async function inTempDir<T>(work: (path: string) => Promise<T> | T): Promise<T> {
  const dir = makeTempDir();
  try {
    return await work(dir.path);
  } finally {
    dir.remove();
  }
}
