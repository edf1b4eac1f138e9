import { expect, test } from 'bun:test';
import { join } from 'node:path';
import type { App } from '../../src/actions/app.ts';
import type { StopOrder } from '../../src/core/signals.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { jobSpec } from '../support/jobs.ts';
import { lines } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';
import { withWorker } from '../support/worker.ts';

test.each<StopOrder>(['drain', 'force', 'leave'])(
  'jobs of a claim that was under way when the order to %s arrived go back and do not run',
  (order) =>
    inTempDir(async (directory) => {
      let stop = (): void => {};
      const opened = await openSqlite(join(directory, 'queue.db'));
      const { store } = opened;
      const claim: Store['claim'] = async (request, now) => {
        const result = await store.claim(request, now);
        if (result.jobs.length > 0) stop();
        return result;
      };
      const slow: Store = { ...store, epoch: store.epoch, origin: store.origin, claim };
      const app: App = { ...opened, store: slow, random: () => 0, newId: String };
      const command = 'echo ran >>log; sleep 600';
      await withWorker(app, async (worker) => {
        stop = () => worker.stop(order, 'the test');
        await store.insert(
          ['a', 'b'].map((id) => jobSpec(id, { command, cwd: directory })),
          Date.now(),
        );
        app.wakeups.wake();
        await worker.done;
      });
      for (const id of ['a', 'b'])
        expect(await store.get(id)).toMatchObject({ state: 'pending', attempts: 0, crashes: 0 });
      expect(lines(join(directory, 'log'))).toEqual([]);
      await store.close();
    }),
);
