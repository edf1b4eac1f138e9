import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { closeApp, openApp } from '../../src/actions/app.ts';
import { countJobs } from '../../src/actions/jobs/jobs.ts';
import { copyStore } from '../../src/actions/transfer/copy.ts';
import { jobSpec, NOW } from '../support/jobs.ts';
import { inTempDir } from '../support/temp-dir.ts';

test('a copy of paused queues is not saved if a queue appears while it reads, and can be repeated', () =>
  inTempDir(async (directory) => {
    const open = (name: string) => openApp(join(directory, name), null, { access: 'write' });
    const [source, other, target] = [await open('queue.db'), await open('queue.db'), await open('copy.db')];
    let adding: Promise<unknown> | null = null;
    const copy = () =>
      copyStore(
        { app: source, name: 'queue.db' },
        {
          pause: true,
          openTarget: () => Promise.resolve({ app: target, name: 'copy.db' }),
          onPause() {},
          onProgress() {
            adding ??= other.store.setQueue('fresh', { concurrency: 1 });
          },
        },
      );
    try {
      await source.store.insert([jobSpec('one')], NOW);
      await expect(copy()).rejects.toMatchObject({
        code: 'wrong-state',
        message: 'jobs of queue.db could start meanwhile, so nothing was copied',
      });
      await adding;
      expect(await countJobs(target, {})).toBe(0);
      expect(await copy()).toMatchObject({ jobs: 1, paused_queues: 2 });
      expect((await target.store.queues()).map(({ pausedAt }) => pausedAt)).toEqual([null, null]);
    } finally {
      for (const app of [source, other, target]) await closeApp(app);
    }
  }));
