import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { placeOfAttempt } from '../../src/state/place.ts';
import { runAttempt } from '../../src/worker/attempt.ts';
import { keepSeal } from '../../src/worker/seal.ts';
import { claimOne, jobSpec, NOW, newWorker } from '../support/jobs.ts';
import { openOnOtherHost } from '../support/other-host.ts';
import { inTempDir } from '../support/temp-dir.ts';
import { attemptContext } from '../support/worker.ts';

for (const [host, why] of [
  ['this', 'never-started'],
  ['another', 'lost'],
] as const)
  test(`an adopted attempt of ${host} host without a record is ${why}, although the seal is intact`, () =>
    inTempDir(async (directory) => {
      const { app: far, store } = await openOnOtherHost(join(directory, 'queue.db'));
      const app = host === 'this' ? { ...far, store } : far;
      await store.register(newWorker('w1'));
      await keepSeal(app);
      await store.insert([jobSpec('a', { cwd: directory, policy: { atMostOnce: true } })], NOW);
      const job = await claimOne(store);
      const adopted = (await app.store.adopt(job.claim, 'w2'))!;
      const context = attemptContext(app);
      const adoption = { rebooted: false, stopping: false, seal: await store.seal() };
      const finished = (await runAttempt(context, adopted, adoption).done)!;
      expect(finished.outcome).toEqual({ why });
      expect(await store.settle(finished.settlement)).toBe('applied');
      // An attempt that may have run must not run again.
      expect(await store.get('a')).toMatchObject({ state: why === 'lost' ? 'dead' : 'pending' });
      const { record } = placeOfAttempt(app, job.claim.attempt);
      expect(existsSync(record)).toBe(host === 'this');
      await store.close();
    }));
