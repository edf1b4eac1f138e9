import { expect } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { killAll, workersOf } from '../support/processes.ts';
import { EXECUTABLE, until } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

const hasPgrep = spawnSync('pgrep', ['-V']).status === 0;

function processName(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, 'latin1').trim();
}

function argv0(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')[0]!;
}

test('supervisors, workers and the server have the process name queuectl, detached or not', async (box) => {
  const foreground = await box.startWorkers('--count', '2');
  const detached = await box.json<{ pid: number }>(['worker', 'start', '--detach']);
  const server = box.start(['serve', '--port', '0']);
  await until(() => server.output().includes('http://'), 'the server listens');
  const workers = (await workersOf(box)).map((worker) => worker.pid);
  expect(workers).toHaveLength(3);
  for (const pid of [foreground.pid, detached.pid, ...workers]) {
    expect(processName(pid)).toBe('queuectl');
    expect(argv0(pid)).toBe('queuectl');
  }
  expect(processName(server.pid)).toBe('queuectl');
  if (hasPgrep) {
    const found = spawnSync('pgrep', ['-x', 'queuectl'], { encoding: 'utf8' }).stdout.split('\n').map(Number);
    expect(found).toEqual(expect.arrayContaining([foreground.pid, detached.pid, server.pid, ...workers]));
  }
});

test('a worker that is started after an upgrade has the process name queuectl, whatever its file is called', async (box) => {
  mkdirSync(join(box.directory, 'bin'));
  for (const name of ['queuectl', 'another-name']) {
    const program = join(box.directory, 'bin', name);
    copyFileSync(EXECUTABLE, program);
    copyFileSync(EXECUTABLE, `${program}.new`);
    const supervisor = box.start([], { through: ['sh', '-c', `exec ${program} worker start`] });
    await until(() => supervisor.output().includes(' ready '), 'the worker is ready');
    renameSync(`${program}.new`, program);
    const [killed] = await workersOf(box);
    await killAll([killed!.pid]);
    const replacement = await until(
      async () => (await workersOf(box)).find((worker) => worker.pid !== killed!.pid),
      'another worker',
    );
    for (const pid of [supervisor.pid, replacement.pid]) expect(processName(pid)).toBe('queuectl');
    expect(argv0(replacement.pid)).toBe('queuectl');
    await box.run(['worker', 'stop']);
  }
});
