import { expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { lockSqlite } from '../../src/store/sqlite/care/swap.ts';
import { SELECT_EPOCH } from '../../src/store/sqlite/on-demand-store.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { inTempDir } from '../support/temp-dir.ts';

/** A program that holds the store, prints a line, and replaces the store after it reads a line. */
const REPLACER = `
import { renameSync } from 'node:fs';
import { lockSqlite } from '${resolve('src/store/sqlite/care/swap.ts')}';
const [path, other] = process.argv.slice(-2);
const held = await lockSqlite(path);
console.log('held');
process.stdin.once('data', () => {
  renameSync(other, path);
  held.unlock();
  process.exit();
});`;

test('a process that waits for a store gets the new one if the store is replaced meanwhile', () =>
  inTempDir(async (directory) => {
    const [path, other] = ['queue.db', 'other.db'].map((name) => join(directory, name));
    for (const one of [path!, other!]) await (await openSqlite(one)).store.close();
    const child = spawn(process.execPath, ['-e', REPLACER, path!, other!], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    const waiting = lockSqlite(path!);
    child.stdin.write('go');
    await ended;
    const held = await waiting;
    const epoch = held.database!.prepare(SELECT_EPOCH).get();
    held.unlock();
    const { store } = await openSqlite(path!);
    expect(Object.values(epoch!)).toEqual([store.epoch]);
    await store.close();
  }));
