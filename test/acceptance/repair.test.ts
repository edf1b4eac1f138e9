import { expect, test } from 'bun:test';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inSandbox } from '../support/queuectl.ts';

const PAGE = 4096;

test(
  'a store that has lost the first page of its jobs: every job is saved, and it is said how',
  inSandbox(async (box) => {
    const jobs = Array.from({ length: 100 }, (_, i) => `{"id":"job${i}","command":"echo ${i}"}`).join('\n');
    await box.run(['enqueue', '--file', '-'], { stdin: jobs });
    const path = join(box.home, 'queue.db');
    const db = new DatabaseSync(path);
    const root = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'job'").get()!
      .rootpage as number;
    db.close();
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(PAGE), 0, PAGE, (root - 1) * PAGE);
    closeSync(file);
    const { code, stdout } = await box.run(['db', 'repair']);
    expect(code).toBe(1);
    expect(stdout).toContain('saved\tjob\t100');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(stdout).toContain('loose\tjob\t100 of these were on pages outside any table');
    expect(stdout).toContain('lost\tjob after number 0');
    expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
    await box.run(['worker', 'start', '--drain', '--quiet']);
    expect(await box.json<unknown[]>(['list', '--state', 'completed'])).toHaveLength(100);
  }),
);
