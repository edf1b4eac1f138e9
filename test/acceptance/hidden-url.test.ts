import { expect, test as plainTest } from 'bun:test';
import { join } from 'node:path';
import { argumentsOf, workersOf } from '../support/processes.ts';
import { inSandbox, lines, until } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

plainTest.concurrent.each(['--db', '--database'])(
  'the URL of %s is not visible in the arguments of workers and supervisors, nor in the environment of jobs',
  (flag) =>
    inSandbox(async (box) => {
      await box.run(['config', 'set', 'poll-interval', '1s']);
      const url = `sqlite://${join(box.home, 'queue.db')}`;
      const foreground = await box.startWorkers(flag, url);
      const detached = await box.json<{ pid: number }>(['worker', 'start', '--detach', `${flag}=${url}`]);
      const workers = (await workersOf(box)).map((worker) => worker.pid);
      expect(workers).toHaveLength(2);
      for (const pid of [foreground.pid, detached.pid, ...workers])
        expect(argumentsOf(pid).join(' ')).not.toContain('queue.db');

      await box.run(['enqueue', 'env >environment.part; mv environment.part environment']);
      const file = join(box.directory, 'environment');
      await until(() => lines(file).length > 0, 'the job has run');
      expect(lines(file).filter((line) => line.includes('queue.db'))).toEqual([]);
    })(),
);

test('the path of --db stays visible in the arguments of a supervisor', async (box) => {
  await box.run(['config', 'set', 'poll-interval', '1s']);
  const path = join(box.home, 'queue.db');
  const { pid } = await box.startWorkers('--db', path);
  expect(argumentsOf(pid)).toContain(path);
});
