import { expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../support/processes.ts';
import { lines, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** A command that clears its environment, appends its pid to the file `pids` and sleeps. */
const WITHOUT_ENVIRONMENT = `env -i /bin/sh -c 'echo $$ >>pids; exec sleep 300'`;

/** Waits until `count` commands have written their pids, and returns the pids. */
async function untilPids(box: Sandbox, count: number): Promise<number[]> {
  const file = join(box.directory, 'pids');
  await until(() => lines(file).length >= count, `${count} processes`);
  return lines(file).map(Number);
}

function parentOf(pid: number): number {
  return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))![1]);
}

test('a process that a failed job left running is ended although it cleared its environment', async (box) => {
  await box.startWorkers();
  await box.run([
    'enqueue',
    '--id',
    'job',
    '--max-retries',
    '1',
    `${WITHOUT_ENVIRONMENT} & while test ! -s pids; do :; done; exit 1`,
  ]);
  await untilState(box, 'job', 'dead');
  for (const pid of await untilPids(box, 1)) expect(isAlive(pid)).toBe(false);
});

test('after its frame was killed, a command that cleared its environment is ended before the job is retried', async (box) => {
  await box.startWorkers();
  await box.run(['enqueue', '--id', 'job', `exec ${WITHOUT_ENVIRONMENT}`]);
  const [first] = await untilPids(box, 1);
  process.kill(parentOf(first!), 'SIGKILL');
  const [, second] = await untilPids(box, 2);
  expect(isAlive(first!)).toBe(false);
  expect(isAlive(second!)).toBe(true);
  await box.run(['cancel', 'job']);
  expect(isAlive(second!)).toBe(false);
});

test('a timeout ends a process that cleared its environment, redirected its output and ignores SIGTERM', async (box) => {
  await box.json(['config', 'set', 'kill-grace', '200ms']);
  await box.startWorkers();
  const stubborn = `env -i /bin/sh -c 'trap "" TERM; echo $$ >>pids; exec sleep 300' >/dev/null 2>&1 & wait`;
  await box.run(['enqueue', '--id', 'job', '--max-retries', '0', '--timeout', '1s', stubborn]);
  await untilState(box, 'job', 'dead');
  for (const pid of await untilPids(box, 1)) expect(isAlive(pid)).toBe(false);
});
