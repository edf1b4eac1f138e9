import { expect } from 'bun:test';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../support/processes.ts';
import { lines, type Sandbox, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** A command whose output is too long for the database, so that its attempt directory is kept. */
const LONG_OUTPUT = 'seq 1 20000';

async function runAll(box: Sandbox): Promise<void> {
  await box.run(['worker', 'start', '--drain']);
}

function attemptsDirectory(box: Sandbox): string {
  return join(box.stateDirectory(), 'attempts');
}

test('a job of a store that was replaced by an older copy runs although its attempt number was used before', async (box) => {
  const [db, copy] = [join(box.home, 'queue.db'), join(box.directory, 'copy')];
  await box.run(['enqueue', 'true']);
  await runAll(box);
  copyFileSync(db, copy);
  await box.run(['enqueue', LONG_OUTPUT]);
  await runAll(box);
  copyFileSync(copy, db);
  const traces = join(box.directory, 'traces');
  await box.run(['enqueue', '--id', 'later', `echo ran >>${traces}; echo mine`]);
  await runAll(box);
  expect(await box.json(['show', 'later'])).toMatchObject({ state: 'completed', attempts: 1 });
  expect(lines(traces)).toEqual(['ran']);
  expect((await box.run(['logs', 'later'])).stdout).toBe('mine\n');
});

test('a job runs although a file of the next attempt number exists, and that file is kept', async (box) => {
  await box.run(['enqueue', LONG_OUTPUT]);
  await box.startWorkers();
  const { id } = (await box.json<{ id: string }[]>(['list']))[0]!;
  await untilState(box, id, 'completed');
  const [name] = readdirSync(attemptsDirectory(box)).filter((entry) => entry.endsWith('-1.out'));
  const takenFile = join(attemptsDirectory(box), name!.replace('-1.', '-2.'));
  writeFileSync(takenFile, 'of another');
  await box.run(['enqueue', '--id', 'later', 'echo mine']);
  expect(await untilState(box, 'later', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
  expect((await box.run(['logs', 'later'])).stdout).toBe('mine\n');
  expect(readFileSync(takenFile, 'utf8')).toBe('of another');
});

test('after the store is replaced by an older copy, a failing job does not kill a process that a newer job left running', async (box) => {
  const [db, copy, pidFile] = [
    join(box.home, 'queue.db'),
    join(box.directory, 'copy'),
    join(box.directory, 'pid'),
  ];
  await box.run(['enqueue', '--id', 'fails', '--max-retries', '0', 'exit 1']);
  copyFileSync(db, copy);
  await box.run(['delete', 'fails']);
  await box.run([
    'enqueue',
    `setsid sh -c 'echo $$ >${pidFile}; exec sleep 300' & while test ! -s ${pidFile}; do :; done`,
  ]);
  await runAll(box);
  copyFileSync(copy, db);
  await runAll(box);
  expect(await box.json(['show', 'fails'])).toMatchObject({ state: 'dead' });
  expect(isAlive(Number(lines(pidFile)[0]))).toBe(true);
  process.kill(Number(lines(pidFile)[0]));
});
