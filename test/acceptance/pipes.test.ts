import { afterAll, beforeAll, expect, test as plainTest } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { workersOf } from '../support/processes.ts';
import { sandbox, until, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const box = sandbox();

beforeAll(async () => {
  const jobs = Array.from({ length: 3000 }, (_, i) => ({ command: `echo ${i}`, queue: 'nobody' }));
  await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(jobs) });
  await box.run(['enqueue', '--id', 'completed', 'seq 1 60000']);
  await box.run(['enqueue', '--id', 'dead', '-r', '1', 'echo why; exit 7']);
  const workers = box.start(['worker', 'start', '--queue', 'default', '--drain']);
  expect(await workers.exit).toBe(0);
});
afterAll(() => box.cleanup());

plainTest('commands exit with 0 and print no error if the reader of their pipe exits early', async () => {
  const commands = [
    ...[
      '',
      'help',
      'help enqueue',
      'list --help',
      'dlq',
      'version',
      'version --json',
      'status',
      'stats',
      'list',
    ],
    ...[
      'list --json',
      'show dead',
      'show dead --json',
      'logs completed',
      'logs completed --json',
      'dlq list',
    ],
    ...[
      'dlq show dead',
      'config list',
      'config list --json',
      'config get lease',
      'config set lease 1m',
      'worker list',
    ],
    ...[
      'enqueue --queue nobody true',
      'status --json',
      'stats --json',
      'worker list --json',
      'config unset lease',
      'events -n 5000',
    ],
  ];
  for (const reader of ['head -c 1 >/dev/null', 'true']) {
    for (const command of commands) {
      const script = `{ "$0" ${command}; echo $? >code; } | ${reader}; cat code`;
      const { stdout, stderr } = await box.run([], { through: ['sh', '-c', script] });
      expect({ command, stderr, exit: stdout.trim() }).toEqual({ command, stderr: '', exit: '0' });
    }
  }
});

test('workers whose log reader has gone continue and can still be stopped', async (ownBox) => {
  const workers = ownBox.start(['worker', 'start'], {
    through: ['sh', '-c', '"$0" "$@" 2>&1 & echo $! >pid; wait'],
  });
  await until(() => workers.output().includes(' ready '), 'the worker is ready');
  workers.child.stdout!.destroy();
  workers.child.stderr!.destroy();
  for (const id of ['one', 'two']) {
    await ownBox.run(['enqueue', '--id', id, 'true']);
    await untilState(ownBox, id, 'completed');
  }
  process.kill(Number(readFileSync(join(ownBox.directory, 'pid'), 'utf8')), 'SIGTERM');
  await until(async () => (await workersOf(ownBox)).length === 0, 'SIGTERM has stopped the worker', 20_000);
});
