import { expect } from 'bun:test';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../support/database.ts';
import { enqueue } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

function setMeta(file: string, key: 'epoch' | 'origin', value: string): void {
  const db = openDatabase(file);
  db.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value').run(
    key,
    value,
  );
  db.close();
}

for (const [key, value] of [
  ['epoch', '../../../victim'],
  ['origin', '../../../victim'],
  ['epoch', '0123456789AB'],
] as const)
  test(`a store whose ${key} is '${value}' is refused, and nothing outside of it is removed`, async (box) => {
    await enqueue(box, 'loud', 'seq 10000');
    await box.run(['worker', 'start', '--drain', '--quiet']);
    const backup = join(box.directory, 'b.db');
    await box.json(['backup', backup]);
    const victim = join(box.directory, 'victim-1');
    mkdirSync(victim);
    writeFileSync(join(victim, 'out'), 'x'.repeat(50_000));
    writeFileSync(`${victim}.out`, 'x'.repeat(50_000));
    const db = join(box.home, 'queue.db');
    setMeta(db, key, value);
    setMeta(backup, key, value);
    for (const command of [
      ['delete', 'loud'],
      ['logs', 'loud'],
      ['prune'],
      ['list'],
      ['worker', 'start', '--drain'],
    ])
      expectRefusal(await box.run(command), 5, /is not a valid epoch/);
    const check = await box.run(['db', 'check']);
    expect(check).toMatchObject({ code: 1, stdout: expect.stringContaining('have 12 hex digits') });
    const restored = join(box.directory, 'restored.db');
    const refused = /b\.db is damaged: .*the epoch, the origin and the store id have 12 hex digits/;
    expectRefusal(await box.run(['--db', restored, 'restore', '--yes', backup]), 5, refused);
    expect((await box.run(['db', 'repair'])).code).toBe(0);
    expect((await box.run(['delete', 'loud'])).code).toBe(0);
    expect(existsSync(join(victim, 'out'))).toBe(true);
    expect(existsSync(`${victim}.out`)).toBe(true);
  });
