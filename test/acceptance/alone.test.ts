import { expect } from 'bun:test';
import { existsSync } from 'node:fs';
import { openDatabase } from '../support/database.ts';
import { type Sandbox, until } from '../support/queuectl.ts';
import { dbPathOf, processState } from '../support/replaced-store.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

const ids = async (box: Sandbox): Promise<string[]> =>
  (await box.run(['list', '--quiet'])).stdout.trim().split('\n').sort();

/** Starts an `enqueue` that stops inside the transaction that adds its job, and waits until it has. */
async function stoppedEnqueue(box: Sandbox) {
  const enqueue = box.start(['enqueue', '--id', 'stopped', '--command', 'true'], {
    env: { QUEUECTL_CRASH_AT: 'in-insert:1:stop' },
  });
  await until(() => processState(enqueue.pid) === 'T', 'the enqueue has stopped');
  return enqueue;
}

test('an enqueue into a store that nobody else uses creates no -shm, and others wait until it has ended', async (box) => {
  await box.create();
  const enqueue = await stoppedEnqueue(box);
  expect(existsSync(`${dbPathOf(box)}-wal`)).toBe(true);
  expect(existsSync(`${dbPathOf(box)}-shm`)).toBe(false);
  const reader = openDatabase(dbPathOf(box));
  expect(() => reader.prepare('SELECT count(*) FROM job').get()).toThrow('locked');
  reader.close();
  const other = box.start(['enqueue', '--id', 'other', '--command', 'true']);
  const list = box.start(['list', '--quiet']);
  process.kill(enqueue.pid, 'SIGCONT');
  expect(await enqueue.exit).toBe(0);
  expect(await other.exit).toBe(0);
  expect(await list.exit).toBe(0);
  expect(await ids(box)).toEqual(['other', 'stopped']);
  expect(existsSync(`${dbPathOf(box)}-wal`)).toBe(false);
});

test('an enqueue into a store that another process uses locks out nobody', async (box) => {
  await box.create();
  const other = openDatabase(dbPathOf(box));
  other.prepare('SELECT count(*) FROM job').get();
  const enqueue = await stoppedEnqueue(box);
  expect(existsSync(`${dbPathOf(box)}-shm`)).toBe(true);
  expect(other.prepare('SELECT count(*) AS jobs FROM job').get()).toMatchObject({ jobs: 0 });
  process.kill(enqueue.pid, 'SIGCONT');
  expect(await enqueue.exit).toBe(0);
  other.close();
  expect(await ids(box)).toEqual(['stopped']);
});

test('what a killed enqueue has committed is in the store, although there is no -shm', async (box) => {
  await box.create();
  const killed = await box.run(['enqueue', '--id', 'killed', '--command', 'true'], {
    env: { QUEUECTL_CRASH_AT: 'after-insert' },
  });
  expect(killed.code).toBe(-1);
  expect(existsSync(`${dbPathOf(box)}-wal`)).toBe(true);
  expect(existsSync(`${dbPathOf(box)}-shm`)).toBe(false);
  await box.run(['enqueue', '--id', 'next', '--command', 'true']);
  expect(await ids(box)).toEqual(['killed', 'next']);
});
