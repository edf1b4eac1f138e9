import { expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lchownSync,
  lstatSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { enqueue, inSandbox, type Sandbox, sandbox, until } from '../support/queuectl.ts';
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

/**
 * Starts an enqueue that crashes with its job in the WAL. Waits for the crash, but at most 3 s, because the store may be
 * locked. Returns a function that waits for the crash without that limit and expects it.
 */
async function startCrashingEnqueue(box: Sandbox, id: string): Promise<() => Promise<void>> {
  const enqueuing = box.start(['enqueue', '--id', id, 'true'], {
    env: { QUEUECTL_CRASH_AT: 'after-insert' },
  });
  await until(() => enqueuing.child.signalCode !== null, 'enqueue has crashed', 3000).catch(() => {});
  return async () => expect(await enqueuing.exit).toBe(-1);
}

test.concurrent(
  'a restore that waited for another restore replaces the new store, not the old store that was kept',
  inSandbox(async (box) => {
    await enqueue(box, 'a', 'true');
    await box.json(['backup', backupPathOf(box)]);
    const restore = (point: string) =>
      box.start(['restore', '--yes', backupPathOf(box)], { env: { QUEUECTL_CRASH_AT: `${point}:1:stop` } });
    // `second` starts before `first`, because its check that no other process uses the store would find `first`.
    const second = restore('after-renew');
    await until(() => processState(second.pid) === 'T', 'the second has made its draft');
    const first = restore('swap-cleared');
    await until(() => processState(first.pid) === 'T', 'the first restore is stopped');
    second.child.kill('SIGCONT');
    const openDescriptors = (): string[] =>
      readdirSync(`/proc/${second.pid}/fd`).filter((fd) => openFilePath(second.pid, fd) === dbPathOf(box));
    await until(() => openDescriptors().length === 2, 'the second waits for the store');
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
  }),
);

for (const [point, expectedIds] of [
  ['swap-held', ['acked']],
  ['swap-named', ['a', 'acked']],
] as const)
  test.concurrent(
    `a job that is enqueued while a restore without an old store is stopped at ${point} is kept`,
    inSandbox(async (box) => {
      await enqueue(box, 'a', 'true');
      await box.json(['backup', backupPathOf(box)]);
      rmSync(box.home, { recursive: true });
      const restore = box.start(['restore', backupPathOf(box)], {
        env: { QUEUECTL_CRASH_AT: `${point}:1:stop` },
      });
      await until(() => processState(restore.pid) === 'T', 'the restore is stopped');
      const expectCrash = await startCrashingEnqueue(box, 'acked');
      restore.child.kill('SIGCONT');
      expect(await restore.exit).toBe(point === 'swap-held' ? 5 : 0);
      await expectCrash();
      expect(await idsIn(box)).toEqual([...expectedIds]);
      expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
    }),
  );

const isRoot = process.getuid!() === 0;
const NOBODY_UID = 65534;

/** Creates files of another user that look like those of a killed swap, with a job in their WAL. Returns their paths. */
async function plantForeignFiles(box: Sandbox, kind: 'link' | 'file'): Promise<string[]> {
  const theirs = join(box.directory, 'theirs.db');
  await box.run(['--db', theirs, 'enqueue', '--id', 'evil', 'true'], {
    env: { QUEUECTL_CRASH_AT: 'after-insert' },
  });
  const hidden = join(box.home, '.queue.db.before-20260101T000000Z');
  if (kind === 'link') symlinkSync('queue.db', hidden);
  else copyFileSync(theirs, hidden);
  copyFileSync(`${theirs}-wal`, `${hidden}-wal`);
  for (const one of [hidden, `${hidden}-wal`]) lchownSync(one, NOBODY_UID, NOBODY_UID);
  return [hidden, `${hidden}-wal`];
}

for (const kind of ['link', 'file'] as const)
  test.skipIf(!isRoot).concurrent(
    `a ${kind} of another user at the path that a killed swap leaves is neither changed nor read`,
    inSandbox(async (box) => {
      for (const id of ['a', 'b', 'c']) await enqueue(box, id, 'true');
      await box.json(['backup', backupPathOf(box)]);
      const planted = await plantForeignFiles(box, kind);
      overwriteHeader(box);
      const { stdout } = await box.run(['db', 'repair']);
      expect(stdout).not.toContain('evil');
      expect(await idsIn(box)).toEqual(['a', 'b', 'c']);
      expect((await box.run(['restore', '--yes', backupPathOf(box)])).code).toBe(0);
      expect(await idsIn(box)).toEqual(['a', 'b', 'c']);
      for (const one of planted) expect(lstatSync(one).uid).toBe(NOBODY_UID);
    }),
  );

test
  .skipIf(!isRoot)
  .concurrent(
    'a file of another user at the path that a killed swap leaves does not prevent a restore',
    async () => {
      const box = sandbox(['setpriv', '--reuid=65533', '--regid=65533', '--clear-groups']);
      try {
        chownSync(box.directory, 65533, 65533);
        await enqueue(box, 'a', 'true');
        await box.json(['backup', backupPathOf(box)]);
        const foreign = join(box.home, '.queue.db.before-20260101T000000Z');
        writeFileSync(foreign, '');
        for (const [one, uid] of [
          [box.home, 0],
          [foreign, NOBODY_UID],
        ] as const)
          chownSync(one, uid, uid);
        chmodSync(box.home, 0o1777);
        const { code, stderr } = await box.run(['restore', '--yes', backupPathOf(box)], {
          env: { QUEUECTL_ANY_OWNER: '1' },
        });
        expect({ code, stderr }).toMatchObject({ code: 0 });
        expect(lstatSync(foreign).uid).toBe(NOBODY_UID);
      } finally {
        await box.cleanup();
      }
    },
  );
