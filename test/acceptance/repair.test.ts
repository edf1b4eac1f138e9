import { expect, test } from 'bun:test';
import { closeSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { enqueue, inSandbox } from '../support/queuectl.ts';

const PAGE_SIZE = 4096;

test(
  'db repair recovers every job after the root page of the job table is lost, and reports what it found',
  inSandbox(async (box) => {
    const jobs = Array.from({ length: 100 }, (_, i) => `{"id":"job${i}","command":"echo ${i}"}`).join('\n');
    await box.run(['enqueue', '--file', '-'], { stdin: jobs });
    const path = join(box.home, 'queue.db');
    const db = new DatabaseSync(path);
    const rootPage = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'job'").get()!
      .rootpage as number;
    db.close();
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(PAGE_SIZE), 0, PAGE_SIZE, (rootPage - 1) * PAGE_SIZE);
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

test.concurrent(
  'db repair settles a lost attempt with the crash-limit of the store',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true');
    await box.run(['config', 'set', 'crash-limit', '1']);
    const db = new DatabaseSync(join(box.home, 'queue.db'));
    db.exec("UPDATE job SET state = 'processing', phase = 'running', worker_id = 'w', due_at = NULL");
    db.close();
    mkdirSync(join(box.stateDirectory(), 'attempts'), { recursive: true });
    await box.run(['db', 'repair']);
    expect(await box.json(['show', 'job'])).toMatchObject({ state: 'dead', crashes: 1 });
  }),
);
