import { expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isMountPoint } from '../../src/files/read.ts';
import { openDatabase } from '../support/database.ts';
import { inTempDir } from '../support/temp-dir.ts';

const locksOn = (path: string): number =>
  readFileSync('/proc/locks', 'utf8').split(`:${statSync(path).ino} `).length - 1;

test('checking the mount of a database keeps the locks that this process holds on it', () =>
  inTempDir((directory) => {
    const path = join(directory, 'queue.db');
    const db = openDatabase(path);
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); BEGIN; SELECT * FROM t');
    const before = locksOn(path);
    expect(before).toBeGreaterThan(0);
    expect(isMountPoint(path)).toBe(false);
    expect(locksOn(path)).toBe(before);
    db.close();
  }));

test('isMountPoint recognises a mount point', () => {
  expect(isMountPoint('/proc')).toBe(true);
  expect(isMountPoint('/proc/self/status')).toBe(false);
  expect(isMountPoint('/nowhere')).toBe(false);
});
