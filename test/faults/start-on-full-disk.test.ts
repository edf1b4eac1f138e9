import { expect, test } from 'bun:test';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inSandbox, type Sandbox, until } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { fill, mayMount, mountSmall, unmount } from './mounts.ts';

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
