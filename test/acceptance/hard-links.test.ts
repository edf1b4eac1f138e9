import { expect, test as plainTest } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue, inSandbox, type Sandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { backupPathOf, dbPathOf, enqueueIntoWal, idsIn } from '../support/replaced-store.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

const BIND_MOUNT = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
const cannotMount = spawnSync('unshare', ['-m', 'mount', '--bind', '/', '/']).status !== 0;

/** Returns options that run queuectl in a new mount namespace, where `from` is mounted on `to`. */
const withMount = (from: string, to: string): { through: string[] } => ({
  through: ['unshare', '-m', 'sh', '-c', BIND_MOUNT, 'sh', from, to],
});

const commandsOnStore = (box: Sandbox): string[][] => [
  ['enqueue', '--id', 'new', 'true'],
  ['list'],
  ['status'],
  ['worker', 'start', '--drain'],
  ['serve', '--port', '0'],
  ['backup', join(box.directory, 'other-backup.db')],
  ['export', '-'],
  ['db', 'check'],
  ['db', 'repair'],
  ['restore', '--yes', backupPathOf(box)],
];

test('a database with a second hard link is refused by both names until one is removed', async (box) => {
  await enqueue(box, 'a', 'true');
  await box.json(['backup', backupPathOf(box)]);
  await enqueueIntoWal(box, 'acked');
  const snapshot = join(box.directory, 'snapshot.db');
  linkSync(dbPathOf(box), snapshot);
  for (const command of commandsOnStore(box)) {
    for (const db of [dbPathOf(box), snapshot])
      expectRefusal(await box.run([...command, '--db', db]), 5, /has 2 names \(hard links\)/);
  }
  const { code, stdout } = await box.run(['doctor']);
  expect(code).toBe(1);
  expect(stdout).toMatch(/database\s+fail\s.*has 2 names.*find .* -samefile .*cp --reflink=auto/);

  rmSync(snapshot);
  expect(await idsIn(box)).toEqual(['a', 'acked']);
  expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
});

test('a backup with several hard links can be replaced and restored', async (box) => {
  await enqueue(box, 'a', 'true');
  await box.json(['backup', backupPathOf(box)]);
  linkSync(backupPathOf(box), join(box.directory, 'monday.db'));
  await box.json(['backup', '--force', backupPathOf(box)]);
  linkSync(backupPathOf(box), join(box.directory, 'tuesday.db'));
  for (const name of ['monday.db', 'tuesday.db']) {
    expect((await box.run(['restore', '--yes', join(box.directory, name)])).code).toBe(0);
    expect(await idsIn(box)).toEqual(['a']);
  }
});

test('the second name that a killed restore leaves is removed by the next command, and any other hard link is refused', async (box) => {
  await enqueue(box, 'a', 'true');
  await box.json(['backup', backupPathOf(box)]);
  const restore = ['restore', '--yes', backupPathOf(box)];
  const killRestore = async (): Promise<void> => {
    expect((await box.run(restore, { env: { QUEUECTL_CRASH_AT: 'swap-linked' } })).code).toBe(-1);
    expect(statSync(dbPathOf(box)).nlink).toBe(2);
  };
  await killRestore();
  await enqueue(box, 'b', 'true');
  expect(statSync(dbPathOf(box)).nlink).toBe(1);
  expect(await idsIn(box)).toEqual(['a', 'b']);

  await killRestore();
  const snapshot = join(box.directory, 'snapshot.db');
  linkSync(dbPathOf(box), snapshot);
  expectRefusal(await box.run(['list']), 5, /has 2 names/);
  expectRefusal(await box.run(restore), 5, /has 2 names/);
  rmSync(snapshot);
  expect((await box.run(restore)).code).toBe(0);
  expect(statSync(dbPathOf(box)).nlink).toBe(1);
  expect(await idsIn(box)).toEqual(['a']);
});

plainTest.skipIf(cannotMount).concurrent(
  'a database mounted as a single file is refused, but not one whose directory is mounted',
  inSandbox(async (box) => {
    await enqueue(box, 'a', 'true');
    await box.json(['backup', backupPathOf(box)]);
    const file = join(box.directory, 'mounted.db');
    writeFileSync(file, '');
    for (const command of commandsOnStore(box)) {
      const result = await box.run([...command, '--db', file], withMount(dbPathOf(box), file));
      expectRefusal(result, 5, /mounted\.db is mounted as a single file/);
    }
    const doctor = await box.run(['doctor', '--db', file], withMount(dbPathOf(box), file));
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/database\s+fail\s.*mounted as a single file.*mount its directory/);

    const directory = join(box.directory, 'mounted');
    mkdirSync(directory);
    const options = withMount(box.home, directory);
    const added = await box.run(
      ['enqueue', '--id', 'b', 'true', '--db', join(directory, 'queue.db')],
      options,
    );
    expect(added.code).toBe(0);
    expect(await idsIn(box)).toEqual(['a', 'b']);
  }),
);
