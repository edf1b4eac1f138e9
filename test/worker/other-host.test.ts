import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { filesOfAttempt } from '../../src/state/attempt-files.ts';
import { runAttempt } from '../../src/worker/attempt.ts';
import { claimOne, jobSpec, NOW, newWorker } from '../support/jobs.ts';
import { openOnOtherHost } from '../support/other-host.ts';
import { inTempDir } from '../support/temp-dir.ts';
import { attemptContext } from '../support/worker.ts';

for (const [host, why] of [
  ['this', 'never-started'],
  ['another', 'lost'],
] as const)
  test(`an adopted attempt of ${host} host without a record is ${why}`, () =>
    inTempDir(async (directory) => {
      const { app: far, store } = await openOnOtherHost(join(directory, 'queue.db'));
      const app = host === 'this' ? { ...far, store } : far;
      await store.register(newWorker('w1'));
      await store.insert([jobSpec('a', { cwd: directory, policy: { atMostOnce: true } })], NOW);
      const job = await claimOne(store);
      const adopted = (await app.store.adopt(job.claim, 'w2'))!;
      const context = attemptContext(app);
      const adoption = { isElsewhere: false, stopping: false };
      const finished = (await runAttempt(context, adopted, adoption).done)!;
      expect(finished.outcome).toEqual({ why });
      expect(await store.settle(finished.settlement)).toBe('applied');
      // An attempt that may have run must not run again.
      expect(await store.get('a')).toMatchObject({ state: why === 'lost' ? 'dead' : 'pending' });
      const { record } = filesOfAttempt(app, job.claim.attempt);
      expect(existsSync(record)).toBe(host === 'this');
      await store.close();
    }));
