import { expect } from 'bun:test';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { untilHeartbeats } from '../support/processes.ts';
import { configure, enqueue, type Sandbox, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** Writes settings into the database without checking them, as a user with `sqlite3` could. */
function writeSettings(box: Sandbox, settings: Record<string, string>): void {
  const db = new DatabaseSync(join(box.home, 'queue.db'), { timeout: 5000 });
  const put = db.prepare('INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)');
  for (const [key, value] of Object.entries(settings)) put.run(key, value);
  db.close();
}

const INVALID_SETTINGS = {
  'max-retries': 'lots',
  'max-concurrent-jobs': '-3',
  'keep-completed': '',
  'on-dead': ' ',
};

test('with invalid settings in the database commands work, workers report each setting once, and db check lists them', async (box) => {
  await configure(box, { 'heartbeat-interval': '200ms' });
  writeSettings(box, INVALID_SETTINGS);
  const added = await box.run(['enqueue', '--id', 'early', 'true']);
  expect(added.code).toBe(0);
  expect(added.stderr).toContain("warning: setting max-retries has the invalid value 'lots'; 3 is used");
  for (const command of ['status', 'list', 'worker list', 'config list', 'stats', 'queue list', 'metrics'])
    expect((await box.run(command.split(' '))).code).toBe(0);
  const workers = await box.startWorkers();
  expect(await untilState(box, 'early', 'completed')).toMatchObject({ max_retries: 3 });
  await untilHeartbeats(box, 3);
  for (const key of Object.keys(INVALID_SETTINGS))
    expect(workers.output().split(`error: setting ${key} has the invalid value`)).toHaveLength(2);

  writeSettings(box, { 'poll-interval': 'often' });
  await untilHeartbeats(box, 2);
  expect(workers.output()).toContain("poll-interval has the invalid value 'often'; 1s is used");

  const check = await box.run(['db', 'check']);
  expect(check.code).toBe(1);
  for (const [key, value] of Object.entries(INVALID_SETTINGS))
    expect(check.stdout).toContain(`setting ${key} has the invalid value '${value}'`);
  expect(check.stderr).toContain('queuectl config unset max-retries');
  for (const key of [...Object.keys(INVALID_SETTINGS), 'poll-interval'])
    expect((await box.run(['config', 'unset', key])).code).toBe(0);
  expect(await box.run(['db', 'check'])).toMatchObject({ code: 0, stderr: '' });
  const { stderr } = await box.run(['enqueue', 'true']);
  expect(stderr).not.toContain('invalid value');
});

test('a lease in the database that is too short for heartbeat-interval is not used, and can be set again', async (box) => {
  await configure(box, { 'heartbeat-interval': '2s' });
  writeSettings(box, { lease: '1s' });
  await enqueue(box, 'job', 'true');
  const workers = await box.startWorkers();
  await untilState(box, 'job', 'completed');
  expect(workers.output()).toMatch(/lease \(1s\) must be at least 3 times .*both defaults are used instead/);
  expect((await box.run(['db', 'check'])).stdout).toContain('lease (1s) must be');
  expect((await box.run(['config', 'set', 'lease', '6s'])).code).toBe(0);
  expect((await box.run(['db', 'check'])).code).toBe(0);
});
