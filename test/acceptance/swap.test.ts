import { expect, test as plainTest } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../support/database.ts';
import { enqueue, inSandbox, type Sandbox, until } from '../support/queuectl.ts';
import {
  backupPathOf,
  dbPathOf,
  enqueueIntoWal,
  idsIn,
  keptStores,
  openFilePath,
  overwriteHeader,
  processState,
} from '../support/replaced-store.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

const POINTS = ['swap-held', 'swap-linked', 'swap-replaced', 'swap-kept'];
const source = readFileSync('src/store/sqlite/care/swap.ts', 'utf8');
// Without this check, renaming a crash point would silently remove tests below.
if ([...source.matchAll(/crashPoint\('(swap-\w+)'\)/g)].map(([, name]) => name).join() !== POINTS.join())
  throw new Error('swap.ts has other crash points');
const OLD_IDS = ['a', 'acked', 'b', 'c'];

/** Returns the path of the second name that a restore or repair gives the old store, if there is one. */
const secondNames = (box: Sandbox): string[] =>
  [`${dbPathOf(box)}.before-restore`].filter((path) => existsSync(path));

function damageCounter(box: Sandbox): void {
  const db = openDatabase(dbPathOf(box));
  db.exec("INSERT INTO log (at, new_queue, new_state) VALUES (1, 1, 'pending')");
  db.close();
}

/** Truncates the database. The rest of the store is in the WAL, which SQLite would remove. */
const truncateDatabase = (box: Sandbox): void => truncateSync(dbPathOf(box), 0);

interface SwapCase {
  command: 'restore' | 'repair';
  /** Damages the store before the last job is written into the WAL. */
  damageBeforeWal?(box: Sandbox): void;
  /** Damages the store after the last job is written into the WAL. */
  damageAfterWal?(box: Sandbox): void;
}

const CASES: Record<string, SwapCase> = {
  'restore over an intact store': { command: 'restore' },
  'restore over a file that cannot be read': { command: 'restore', damageAfterWal: overwriteHeader },
  'restore over a file that was truncated': { command: 'restore', damageAfterWal: truncateDatabase },
  'repair of a store that can be read': { command: 'repair', damageBeforeWal: damageCounter },
};

for (const [what, { command, damageBeforeWal, damageAfterWal }] of Object.entries(CASES)) {
  for (const point of POINTS) {
    test(`when a ${what} is killed at ${point}, no acknowledged job is lost, and the command can be repeated`, async (box) => {
      for (const id of ['a', 'b', 'c']) await enqueue(box, id, 'true');
      await box.json(['backup', backupPathOf(box)]);
      damageBeforeWal?.(box);
      await enqueueIntoWal(box, 'acked');
      damageAfterWal?.(box);
      const wal = readFileSync(`${dbPathOf(box)}-wal`);
      const args = command === 'restore' ? ['restore', '--yes', backupPathOf(box)] : ['db', 'repair'];
      expect((await box.run(args, { env: { QUEUECTL_CRASH_AT: point } })).code).toBe(-1);

      // Either the old store or the new one is complete, and an unreadable old file is still reported.
      const newIds = command === 'restore' ? ['a', 'b', 'c'] : OLD_IDS;
      const replaced = ['swap-replaced', 'swap-kept'].includes(point);
      if (replaced) {
        expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
        expect(await idsIn(box)).toEqual(newIds);
      } else if (damageAfterWal !== undefined) expect((await box.run(['list'])).stderr).toContain('damaged');
      else expect(await idsIn(box)).toEqual(OLD_IDS);

      // The repaired store is healthy, and a repair refuses it.
      const again = await box.run(args);
      expect(again.code).toBe(command === 'repair' && replaced ? 4 : 0);
      expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
      expect(await idsIn(box)).toEqual(newIds);
      if (again.code === 0) expect(secondNames(box)).toEqual([]);
      for (const one of [dbPathOf(box), ...keptStores(box)]) expect(statSync(one).nlink).toBe(1);
      if (damageAfterWal === truncateDatabase) {
        const wals = readdirSync(box.home).filter((name) => name.endsWith('-wal'));
        expect(wals.some((name) => readFileSync(join(box.home, name)).equals(wal))).toBe(true);
      } else {
        const found = [...keptStores(box), ...secondNames(box)];
        // SQLite cannot read a file without a header, but nothing else of it is gone.
        if (damageAfterWal !== undefined)
          expect(found.some((one) => readFileSync(one).includes('acked'))).toBe(true);
        else expect(await Promise.all(found.map((one) => keptIds(box, one)))).toContainEqual(OLD_IDS);
      }
    });
  }
}

/** Returns the job ids of a replaced store that was kept, and repairs the store first if necessary. */
async function keptIds(box: Sandbox, db: string): Promise<string[]> {
  const { stdout } = await box.run(['db', 'check', '--db', db]);
  if (stdout !== 'ok\n') await box.run(['db', 'repair', '--db', db]);
  return idsIn(box, db);
}

test('a command that starts while a store is replaced waits and uses the new store', async (box) => {
  await enqueue(box, 'a', 'true');
  await box.json(['backup', backupPathOf(box)]);
  const restore = box.start(['restore', '--yes', backupPathOf(box)], {
    env: { QUEUECTL_CRASH_AT: 'swap-linked:1:stop' },
  });
  await until(() => processState(restore.pid) === 'T', 'the restore is stopped');
  const late = box.start(['enqueue', '--id', 'late', 'true']);
  const opened = (): boolean =>
    readdirSync(`/proc/${late.pid}/fd`).some((fd) => openFilePath(late.pid, fd) === dbPathOf(box));
  await until(opened, 'the enqueue has opened the old file');
  expect(late.child.exitCode).toBe(null);
  restore.child.kill('SIGCONT');
  expect(await restore.exit).toBe(0);
  expect(await late.exit).toBe(0);
  expect(await idsIn(box)).toEqual(['a', 'late']);
  expect(await idsIn(box, keptStores(box)[0]!)).toEqual(['a']);
});

test('while a store in use is replaced repeatedly, each acknowledged job is in it or in a kept store', async (box) => {
  await enqueue(box, 'a', 'true');
  await box.json(['backup', backupPathOf(box)]);
  const acknowledged: string[] = [];
  const refused: string[] = [];
  let done = false;
  const enqueueRepeatedly = async (name: string): Promise<void> => {
    for (let i = 0; !done; i++) {
      const { code, stderr } = await box.run(['enqueue', '--id', `${name}${i}`, 'true']);
      if (code === 0) acknowledged.push(`${name}${i}`);
      else refused.push(stderr);
    }
  };
  const restoreSixTimes = async (): Promise<void> => {
    for (let i = 0; i < 6; ) {
      const { code, stderr } = await box.run(['restore', '--yes', backupPathOf(box)]);
      if (code === 0) i++;
      else expect(stderr).toMatch(/in use by process|locked by another process/);
    }
    done = true;
  };
  await Promise.all([enqueueRepeatedly('x'), enqueueRepeatedly('y'), restoreSixTimes()]);
  expect(refused).toEqual([]);
  const kept = keptStores(box);
  expect(kept).toHaveLength(6);
  const found = new Set((await Promise.all([dbPathOf(box), ...kept].map((db) => idsIn(box, db)))).flat());
  expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
  for (const db of [dbPathOf(box), ...kept])
    expect((await box.run(['db', 'check', '--db', db])).stdout).toBe('ok\n');
});

for (const point of [null, ...POINTS]) {
  plainTest.concurrent(
    `a WAL whose database is gone is not used with a restored database${point === null ? '' : `, even if the restore is killed at ${point}`}`,
    inSandbox(async (box) => {
      await enqueue(box, 'a', 'true');
      await box.json(['backup', backupPathOf(box)]);
      await enqueueIntoWal(box, 'acked');
      const wal = readFileSync(`${dbPathOf(box)}-wal`);
      rmSync(box.home, { recursive: true });
      mkdirSync(box.home, { mode: 0o700 });
      writeFileSync(`${dbPathOf(box)}-wal`, wal, { mode: 0o600 });
      const args = ['restore', '--yes', backupPathOf(box)];
      if (point !== null) expect((await box.run(args, { env: { QUEUECTL_CRASH_AT: point } })).code).toBe(-1);
      if (point === null || !['swap-replaced', 'swap-kept'].includes(point))
        expect((await box.run(args)).code).toBe(0);
      expect(await idsIn(box)).toEqual(['a']);
      expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
      const wals = readdirSync(box.home).filter((name) => name.endsWith('-wal'));
      expect(wals.some((name) => readFileSync(join(box.home, name)).equals(wal))).toBe(true);
    }),
  );
}

test('a restore that waited for another restore replaces the new store, not the old store that was kept', async (box) => {
  await enqueue(box, 'a', 'true');
  await box.json(['backup', backupPathOf(box)]);
  const restore = (point: string) =>
    box.start(['restore', '--yes', backupPathOf(box)], { env: { QUEUECTL_CRASH_AT: `${point}:1:stop` } });
  // `second` starts before `first`, because its check that no other process uses the store would find `first`.
  const second = restore('after-renew');
  await until(() => processState(second.pid) === 'T', 'the second has made its draft');
  const first = restore('swap-linked');
  await until(() => processState(first.pid) === 'T', 'the first restore is stopped');
  second.child.kill('SIGCONT');
  const openDescriptors = (): string[] =>
    readdirSync(`/proc/${second.pid}/fd`).filter((fd) => openFilePath(second.pid, fd) === dbPathOf(box));
  await until(() => openDescriptors().length === 1, 'the second waits for the store');
  second.child.kill('SIGSTOP');
  first.child.kill('SIGCONT');
  expect(await first.exit).toBe(0);
  await enqueueIntoWal(box, 'acked');
  second.child.kill('SIGCONT');
  expect(await second.exit).toBe(0);
  expect(await idsIn(box)).toEqual(['a']);
  const kept = await Promise.all(keptStores(box).map((db) => idsIn(box, db)));
  expect(kept.map((one) => one.join()).sort()).toEqual(['a', 'a,acked']);
  for (const db of [dbPathOf(box), ...keptStores(box)])
    expect((await box.run(['db', 'check', '--db', db])).stdout).toBe('ok\n');
});

test('a job that is enqueued while a restore without an old store holds the name waits and is in the new store', async (box) => {
  await enqueue(box, 'a', 'true');
  await box.json(['backup', backupPathOf(box)]);
  rmSync(box.home, { recursive: true });
  const restore = box.start(['restore', backupPathOf(box)], {
    env: { QUEUECTL_CRASH_AT: 'swap-held:1:stop' },
  });
  await until(() => processState(restore.pid) === 'T', 'the restore is stopped');
  const late = box.start(['enqueue', '--id', 'acked', 'true']);
  const opened = (): boolean =>
    readdirSync(`/proc/${late.pid}/fd`).some((fd) => openFilePath(late.pid, fd) === dbPathOf(box));
  await until(opened, 'the enqueue has opened the empty file');
  restore.child.kill('SIGCONT');
  expect(await restore.exit).toBe(0);
  expect(await late.exit).toBe(0);
  expect(await idsIn(box)).toEqual(['a', 'acked']);
  expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
});

test('a failed restore without an old store leaves no empty file', async (box) => {
  await enqueue(box, 'a', 'true');
  await box.json(['backup', backupPathOf(box)]);
  rmSync(box.home, { recursive: true });
  const { code } = await box.run(['restore', backupPathOf(box)], {
    env: { QUEUECTL_CRASH_AT: 'swap-held:1:throw' },
  });
  expect(code).not.toBe(0);
  expect(existsSync(dbPathOf(box))).toBe(false);
});
