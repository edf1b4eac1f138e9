import { expect, test } from 'bun:test';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inSandbox, type Sandbox, until } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { fill, mayMount, mountSmall, unmount } from './mounts.ts';
import { isStopped } from './process-control.ts';

/** Runs `work` with a store that can be opened, on a disk without space for another byte. */
async function onFullDisk(box: Sandbox, work: (free: () => void) => Promise<void>): Promise<void> {
  mountSmall(box.home, 'size=8m');
  try {
    await box.run(['enqueue', 'true']);
    // The process is killed before its checkpoint and leaves both a -wal and a -shm, so that opening the store needs no space.
    await box.run(['enqueue', '--wait', 'true'], { env: { QUEUECTL_CRASH_AT: 'after-insert' } });
    const filler = join(box.home, 'filler');
    fill(filler);
    await work(() => rmSync(filler));
    await box.run(['worker', 'stop']);
  } finally {
    unmount(box.home);
  }
}

test.skipIf(!mayMount)(
  'worker start --detach on a full disk fails with the reason, leaves no log or host file, and succeeds once there is space',
  inSandbox((box) =>
    onFullDisk(box, async (free) => {
      expectRefusal(await box.run(['worker', 'start', '--detach']), 5, /disk is full/);
      const remaining = readdirSync(join(box.home, 'queue.db.d'));
      expect(remaining.filter((name) => /^host\.|logs/.test(name))).toEqual([]);
      free();
      expect(await box.json<unknown[]>(['worker', 'list'])).toEqual([]);
      expect((await box.run(['worker', 'start', '--detach'])).code).toBe(0);
    }),
  ),
);

test.skipIf(!mayMount)(
  'worker start on a full disk reports what it waits for, and continues when there is space',
  inSandbox((box) =>
    onFullDisk(box, async (free) => {
      const workers = box.start(['worker', 'start']);
      await until(() => /cannot start workers yet: .*disk is full/.test(workers.output()), 'the reason');
      free();
      await until(() => workers.output().includes(' ready '), 'the worker is ready');
    }),
  ),
);

const LOOKS = [
  ['list'],
  ['status'],
  ['show', 'one'],
  ['explain', 'one'],
  ['events'],
  ['stats'],
  ['db', 'check'],
];

test.skipIf(!mayMount)(
  'jobs can be viewed, cancelled and deleted on a full disk before a worker has ever run',
  inSandbox(async (box) => {
    mountSmall(box.home, 'size=8m');
    try {
      for (const id of ['one', 'two']) expect((await box.run(['enqueue', '--id', id, 'true'])).code).toBe(0);
      fill(join(box.home, 'filler'));
      // The last round has no reserve left.
      for (const remove of [['cancel', 'one'], ['delete', 'two'], null]) {
        for (const look of LOOKS) expect(await box.run(look)).toMatchObject({ code: 0, stderr: '' });
        if (remove !== null) expect(await box.run(remove)).toMatchObject({ code: 0 });
        else fill(join(box.home, 'filler-2'));
      }
      for (const look of LOOKS) expect(await box.run(look)).toMatchObject({ code: 0, stderr: '' });
    } finally {
      unmount(box.home);
    }
  }),
);

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  test.skipIf(!mayMount)(
    `worker start on a full disk obeys ${signal}`,
    inSandbox(async (box) => {
      mountSmall(box.home, 'size=8m');
      try {
        await box.create();
        const env = { QUEUECTL_CRASH_AT: 'before-registerSupervisor:1:stop' };
        const workers = box.start(['worker', 'start'], { env });
        await until(() => isStopped(workers.pid), 'the supervisor is suspended');
        fill(join(box.home, 'filler'));
        process.kill(workers.pid, 'SIGCONT');
        await until(() => workers.output().includes('disk is full'), 'the reason');
        // A failed try leaves some space, with which the next one could succeed.
        fill(join(box.home, 'filler-2'));
        const sentAt = performance.now();
        process.kill(workers.pid, signal);
        expect(await workers.exit).toBe(0);
        expect(performance.now() - sentAt).toBeLessThan(2000);
      } finally {
        unmount(box.home);
      }
    }),
  );

test.skipIf(!mayMount)(
  'on a disk without free inodes, commands report a full disk',
  inSandbox(async (box) => {
    mountSmall(box.home, 'size=8m,nr_inodes=40');
    try {
      expect((await box.run(['enqueue', 'true'])).code).toBe(0);
      const names: string[] = [];
      const useInodes = (): void => {
        try {
          for (;;) {
            const name = join(box.home, `file${names.length}`);
            writeFileSync(name, '');
            names.push(name);
          }
        } catch {
          // There is no inode left.
        }
      };
      useInodes();
      for (const command of [
        ['list'],
        ['enqueue', 'true'],
        ['worker', 'start'],
        ['worker', 'start', '--detach'],
      ])
        expectRefusal(await box.run(command), 5, /disk is full.*inodes/);
      // SQLite needs two files, and the state directory one for the id of the host. Then there is none for the logs.
      for (let i = 0; i < 4; i++) {
        expectRefusal(await box.run(['worker', 'start', '--detach']), 5, /disk is full/);
        rmSync(names.pop()!);
      }
      for (const name of names) rmSync(name);
      expect((await box.run(['worker', 'start', '--detach'])).code).toBe(0);
      expect((await box.run(['worker', 'stop'])).code).toBe(0);
    } finally {
      unmount(box.home);
    }
  }),
);
