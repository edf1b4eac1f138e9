import { expect } from 'bun:test';
import { execute } from '../support/execute.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

test('a process dies only at the crash point that it was given, and an invalid crash point is refused', async (box) => {
  const enqueueAt = (crashPoint: string) =>
    box.run(['enqueue', '--id', crashPoint, '--command', 'true'], {
      env: { QUEUECTL_CRASH_AT: crashPoint },
    });
  expect(await enqueueAt('before-insert')).toMatchObject({ code: -1, stdout: '' });
  expect(await enqueueAt('in-insert')).toMatchObject({ code: -1, stdout: '' });
  expect(await enqueueAt('after-insert')).toMatchObject({ code: -1, stdout: '' });
  expect(await enqueueAt('after-insert:2')).toMatchObject({ code: 0 });
  expect((await box.run(['list', '--quiet'])).stdout.split('\n').sort()).toEqual([
    '',
    'after-insert',
    'after-insert:2',
  ]);
  const refused = await enqueueAt('nonsense');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain("must be name:nth:kill|stop|throw|block, not 'nonsense'");
});

test('neither a job nor a replacement worker inherits the crash point of a worker', async (box) => {
  const workers = box.start(['worker', 'start'], { env: { QUEUECTL_CRASH_AT: 'after-claim' } });
  const { job, output } = await execute(box, { command: 'echo "<$QUEUECTL_CRASH_AT>"' });
  expect(output).toBe('<>\n');
  expect(job).toMatchObject({ state: 'completed', attempts: 1, crashes: 0 });
  expect(workers.output().split('exited (SIGKILL); starting a replacement').length).toBe(2);
});
