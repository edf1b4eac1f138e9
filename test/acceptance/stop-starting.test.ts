import { expect } from 'bun:test';
import { isStopped } from '../faults/process-control.ts';
import { workersOf } from '../support/processes.ts';
import { type Sandbox, until } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** Returns a value of RunOptions.through that runs a shell script in which `$0` is queuectl. */
function throughShell(script: string): string[] {
  return ['sh', '-c', script];
}

test('a worker stop reaches a supervisor that has registered and has no worker yet', async (box) => {
  await box.json(['enqueue', '--id', 'job', 'true']);
  for (const flags of [[], ['--force'], ['--leave']]) {
    const env = { QUEUECTL_CRASH_AT: 'after-registerSupervisor:1:stop' };
    const workers = box.start(['worker', 'start', '--count', '4'], { env });
    await until(() => isStopped(workers.pid), 'the supervisor is frozen after it has registered');
    const stop = await box.run(['worker', 'stop', ...flags, '--timeout', '200ms']);
    expect(stop.stderr).toContain('is still running');
    process.kill(workers.pid, 'SIGCONT');
    expect(await workers.closed).toBe(0);
  }
  expect(await workersOf(box)).toEqual([]);
  expect(await box.json(['show', 'job'])).toMatchObject({ state: 'pending' });
  await box.startWorkers();
});

const STARTS_AFTER_STOP: Record<string, string> = {
  'with exec, as in an entrypoint': '"$0" worker stop; exec "$0" worker start',
  'with exec, after a stop in a subshell': '(cd /; "$0" worker stop); exec "$0" worker start',
  'one after the other': '"$0" worker stop; "$0" worker start',
};

for (const [name, script] of Object.entries(STARTS_AFTER_STOP)) {
  test(`worker start after worker stop (${name}) starts workers`, async (box: Sandbox) => {
    await box.create();
    const workers = box.start([], { through: throughShell(script) });
    const hasOneWorker = async (): Promise<boolean> => (await workersOf(box)).length === 1;
    await until(
      async () => (await hasOneWorker()) || workers.child.exitCode !== null,
      'the worker has started',
    );
    expect(await hasOneWorker()).toBe(true);
    expect((await box.run(['worker', 'stop'])).stdout).toBe('stopped 1 worker\n');
  });
}
