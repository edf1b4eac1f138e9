import { expect, test } from 'bun:test';
import { processes } from '../../src/exec/processes.ts';
import { isStopped } from '../faults/process-control.ts';
import { workersOf } from '../support/processes.ts';
import { EXECUTABLE, inSandbox, type Sandbox, until } from '../support/queuectl.ts';

/** Returns a value of RunOptions.through that runs a shell script in which `$0` is queuectl. */
function throughShell(script: string): string[] {
  return ['sh', '-c', script];
}

test.concurrent(
  'a supervisor that started before a worker stop and registers after it obeys the stop',
  inSandbox(async (box) => {
    await box.create();
    for (const flags of [[], ['--force'], ['--leave']]) {
      const env = { QUEUECTL_CRASH_AT: 'before-registerSupervisor:1:stop' };
      const workers = box.start(['worker', 'start', '--count', '4'], { env });
      await until(() => isStopped(workers.pid), 'the supervisor is frozen before it registers');
      const stop = await box.run(['worker', 'stop', ...flags]);
      expect(stop.stdout).toBe('no workers were running\n');
      process.kill(workers.pid, 'SIGCONT');
      expect(await workers.closed).toBe(0);
      expect(workers.output()).not.toContain(' ready ');
    }
    expect(await workersOf(box)).toEqual([]);
    await box.startWorkers();
  }),
);

test.concurrent(
  'a supervisor that is frozen while it starts, and continues over a second after a worker stop, obeys the stop',
  inSandbox(async (box) => {
    await box.create();
    const workers = box.start(['worker', 'start']);
    process.kill(workers.pid, 'SIGSTOP');
    // The stop also applies if the supervisor had registered before it was frozen.
    await box.run(['worker', 'stop', '--timeout', '2s']);
    const stoppedAtMs = processes.clock();
    await until(() => processes.clock() > stoppedAtMs + 1100, 'more than a second passes');
    process.kill(workers.pid, 'SIGCONT');
    expect(await workers.closed).toBe(0);
    expect(workers.output()).not.toContain(' ready ');
  }),
);

test.concurrent(
  'worker start and worker stop at the same moment both end',
  inSandbox(async (box) => {
    for (let round = 0; round < 5; round++) {
      const both = await box.run([], {
        through: throughShell('"$0" worker start --count 2 & "$0" worker stop; wait'),
      });
      expect(both.code).toBe(0);
    }
    expect(await workersOf(box)).toEqual([]);
  }),
);

test.concurrent(
  'worker start --detach and worker stop at the same moment leave no worker',
  inSandbox(async (box) => {
    await box.run([], { through: throughShell('"$0" worker start --detach & "$0" worker stop; wait') });
    await until(async () => (await workersOf(box)).length === 0, 'no worker is left');
  }),
);

const STARTS_AFTER_STOP: Record<string, string> = {
  'with exec, as in an entrypoint': '"$0" worker stop; exec "$0" worker start',
  'with exec, after a stop in a subshell': '(cd /; "$0" worker stop); exec "$0" worker start',
  'one after the other': '"$0" worker stop; "$0" worker start',
  'in the background': '"$0" worker stop; "$0" worker start --detach; sleep 600',
  'in an older process that waited for the stop':
    '(until [ -e go ]; do sleep 0.05; done; exec "$0" worker start) & sleep 0.5; "$0" worker stop; touch go; wait',
  'in an older shell that waited for the stop':
    'sh -c \'touch up; until [ -e go ]; do sleep 0.01; done; exec "$0" worker start\' "$0" & until [ -e up ]; do sleep 0.01; done; "$0" worker stop; touch go; wait',
  'after a stop whose parent has ended':
    'setsid -f sh -c \'"$0" worker stop; touch go\' "$0"; until [ -e go ]; do sleep 0.01; done; exec "$0" worker start',
};

for (const [name, script] of Object.entries(STARTS_AFTER_STOP)) {
  test.concurrent(
    `worker start after worker stop (${name}) starts workers`,
    inSandbox(async (box: Sandbox) => {
      await box.create();
      const workers = box.start([], { through: throughShell(script) });
      const hasOneWorker = async (): Promise<boolean> => (await workersOf(box)).length === 1;
      await until(
        async () => (await hasOneWorker()) || workers.child.exitCode !== null,
        'the worker has started',
      );
      expect(await hasOneWorker()).toBe(true);
      expect((await box.run(['worker', 'stop'])).stdout).toBe('stopped 1 worker\n');
    }),
  );
}

test.concurrent(
  'the variable with the start time of the supervisor is not in the environment of its jobs',
  inSandbox(async (box) => {
    await box.json(['enqueue', '--id', 'job', 'env']);
    await box.run(['worker', 'start', '--drain'], { through: ['sh', '-c', `exec ${EXECUTABLE} "$@"`] });
    const printed = (await box.run(['logs', 'job'])).stdout;
    expect(printed).toContain('QUEUECTL_JOB_ID=job');
    expect(printed).not.toContain('QUEUECTL_STARTED');
  }),
);
