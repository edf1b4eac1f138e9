import { expect, test } from 'bun:test';
import { join } from 'node:path';
import {
  interrupt,
  isSuspended,
  previewSignal,
  processesOf,
  signalJobs,
} from '../../src/actions/jobs/signal-jobs.ts';
import { jobSpec } from '../support/jobs.ts';
import { openOnOtherHost } from '../support/other-host.ts';
import { lines, until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';
import { withWorker } from '../support/worker.ts';

const COMMAND = `trap 'echo interrupted >>log; exit 3' INT; echo begun >>log; while :; do sleep 0.02; done`;

test('a job on another host is suspended, continued and interrupted by its worker', () =>
  inTempDir(async (directory) => {
    const { app: far, store } = await openOnOtherHost(join(directory, 'queue.db'));
    const near = { ...far, store };
    const log = join(directory, 'log');
    const suspended = async (): Promise<boolean> => isSuspended(await processesOf(near, 'a'));
    await withWorker(near, async () => {
      await store.insert([jobSpec('a', { command: COMMAND, cwd: directory, maxRetries: 1 })], Date.now());
      near.wakeups.wake();
      await until(() => lines(log).includes('begun'), 'the command runs');
      expect(await processesOf(far, 'a')).toEqual([]);

      expect(await previewSignal(far, ['a', 'nobody'], 'SIGSTOP')).toMatchObject({ changed: ['a'] });
      expect(await store.wishes('w1')).toEqual([]);
      expect(await signalJobs(far, ['a'], 'SIGSTOP')).toMatchObject({ changed: ['a'], unchanged: [] });
      await until(suspended, 'the processes are suspended');
      await until(async () => (await store.wishes('w1')).length === 0, 'the wish is fulfilled');

      expect(await signalJobs(far, ['a'], 'SIGCONT')).toMatchObject({ changed: ['a'] });
      await until(async () => !(await suspended()), 'the processes continue');

      await interrupt(far, 'a', 'SIGINT');
      await until(async () => (await store.get('a'))?.state === 'dead', 'the job has ended');
      expect(await store.get('a')).toMatchObject({ exitCode: 3 });
      expect(lines(log)).toEqual(['begun', 'interrupted']);
    });
    await store.close();
  }));
