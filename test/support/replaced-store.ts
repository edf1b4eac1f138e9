import { expect } from 'bun:test';
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from './queuectl.ts';

export const dbPathOf = (box: Sandbox): string => join(box.home, 'queue.db');
export const backupPathOf = (box: Sandbox): string => join(box.directory, 'backup.db');

/** Enqueues a job that is only in the WAL, because the command crashes before the checkpoint. */
export async function enqueueIntoWal(box: Sandbox, id: string): Promise<void> {
  await box.run(['enqueue', '--id', id, 'true'], { env: { QUEUECTL_CRASH_AT: 'after-insert' } });
  expect(statSync(`${dbPathOf(box)}-wal`).size).toBeGreaterThan(0);
}

export async function idsIn(box: Sandbox, db = dbPathOf(box)): Promise<string[]> {
  const jobs = await box.json<{ id: string }[]>(['list', '--db', db]);
  return jobs.map((job) => job.id).sort();
}

/** Returns the paths of the replaced stores that were kept. */
export const keptStores = (box: Sandbox): string[] =>
  readdirSync(box.home)
    .filter((name) => /^queue\.db\.(before|damaged)-\w+Z(\.\d+)?$/.test(name))
    .map((name) => join(box.home, name));

/** Overwrites the header, so that SQLite can no longer read the file. */
export function overwriteHeader(box: Sandbox): void {
  const file = openSync(dbPathOf(box), 'r+');
  writeSync(file, Buffer.alloc(100), 0, 100, 0);
  closeSync(file);
}

/** Returns the state of a process, such as `T` for stopped. */
export const processState = (pid: number): string =>
  readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]![0]!;

/** Returns the path of an open file of a process, or null. */
export function openFilePath(pid: number, fd: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return null;
  }
}
