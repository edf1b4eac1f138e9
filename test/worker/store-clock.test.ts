import { expect, test } from 'bun:test';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/core/time/clock.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { runAttempt } from '../../src/worker/attempt.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { claimOne, jobSpec } from '../support/jobs.ts';
import { inTempDir } from '../support/temp-dir.ts';
import { attemptContext } from '../support/worker.ts';

const HOUR_MS = 3_600_000;

for (const hours of [1, -1]) {
  const clock = { ...systemClock, now: () => Date.now() + hours * HOUR_MS };

  test(`an adopted attempt that has ended has the time of a store whose clock is ${hours}h ahead`, () =>
    inTempDir(async (directory) => {
      const opened = await openSqlite(join(directory, 'queue.db'), { clock });
      const { store } = opened;
      const context = attemptContext({ ...opened, random: () => 0, newId: String });
      const before = clock.now();
      await store.insert([jobSpec('job', { command: 'true', cwd: directory })], before);
      const job = await claimOne(store, 'w1', before);
      await runAttempt(context, job, null).done;
      const adopted = (await store.adopt(job.claim, 'w1'))!;
      const adoption = { isElsewhere: false, stopping: false };
      const { settlement } = (await runAttempt(context, adopted, adoption).done)!;
      // The time of a file is rounded down, on some file systems to a tick of the kernel.
      expect(settlement.finishedAt).toBeGreaterThan(before - 1000);
      expect(settlement.finishedAt).toBeLessThanOrEqual(clock.now());
      await store.close();
    }));

  test(`a worker of a store whose clock is ${hours}h ahead obeys a new stop file`, () =>
    inTempDir(async (directory) => {
      const opened = await openSqlite(join(directory, 'queue.db'), { clock });
      const app = { ...opened, random: Math.random, newId: String };
      const options = {
        ...{
          id: 'w1',
          supervisor: 's',
          concurrency: 1,
          queues: null,
          drain: false,
          openFileLimit: null,
        },
        stopFileSince: null,
      };
      const worker = await startWorker(app, options, () => {});
      const file = join(opened.stateDirectory.path, '.stop_workers');
      writeFileSync(file, '');
      // The file must be newer than the start of the worker, even on a file system with coarse times.
      const future = new Date(Date.now() + 1000);
      utimesSync(file, future, future);
      opened.wakeups.wake();
      await worker.done;
      expect(await opened.store.workers()).toEqual([]);
      await opened.store.close();
    }));
}
