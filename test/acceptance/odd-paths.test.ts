import { expect, test as plainTest } from 'bun:test';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../support/database.ts';
import { enqueue, inSandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

test('commands, including doctor, report symbolic links that form a loop', async (box) => {
  mkdirSync(box.home);
  symlinkSync('queue.db', join(box.home, 'queue.db'));
  for (const command of [['list'], ['enqueue', 'true'], ['db', 'check']])
    expectRefusal(await box.run(command), 5, /its symbolic links form a loop/);
  const doctor = await box.run(['doctor']);
  expect(doctor).toMatchObject({ code: 1, stderr: '' });
  expect(doctor.stdout).toMatch(/^store\tfail\t.*its symbolic links form a loop/m);
  expect(readdirSync(box.home)).toEqual(['queue.db']);
});

test('a device in place of the database is reported as a device, without advice to change its mode', async (box) => {
  for (const command of [['list'], ['enqueue', 'true'], ['db', 'repair']]) {
    const refused = await box.run([...command, '--db', '/dev/zero']);
    expectRefusal(refused, 5, /\/dev\/zero is a device/);
    expect(refused.stderr).not.toContain('chmod');
  }
});

/** A shell script that makes the directory $STORE_HOME read-only in its mount namespace and executes queuectl. */
const RUN_READ_ONLY =
  'mount --bind "$STORE_HOME" "$STORE_HOME" && mount -o remount,bind,ro "$STORE_HOME" && exec "$0" "$@"';
const canMount = Bun.spawnSync(['unshare', '-m', 'mount', '--bind', '/tmp', '/tmp']).exitCode === 0;

plainTest.skipIf(!canMount).concurrent(
  'db repair and enqueue report a read-only file system',
  inSandbox(async (box) => {
    await enqueue(box, 'job', 'true', { delay: 3600 });
    const db = openDatabase(join(box.home, 'queue.db'));
    db.exec(
      "INSERT INTO log (at, new_queue, new_state) VALUES (1, 1, 'pending'); PRAGMA journal_mode = DELETE",
    );
    db.close();
    const before = readdirSync(box.home);
    const through = ['unshare', '-m', 'sh', '-c', RUN_READ_ONLY];
    for (const command of [
      ['db', 'repair'],
      ['enqueue', 'true'],
    ]) {
      const refused = await box.run(command, { through, env: { STORE_HOME: box.home } });
      expectRefusal(refused, 6, /read-only file system/);
      expect(refused.stderr).not.toContain('.draft');
    }
    expect(readdirSync(box.home)).toEqual(before);
  }),
);
