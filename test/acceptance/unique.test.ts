import { expect } from 'bun:test';
import { join } from 'node:path';
import { type JobJson, lines, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

test('twenty parallel enqueues with one unique key add one job, and all print its id', async (box) => {
  const results = await Promise.all(
    Array.from({ length: 20 }, () => box.run(['enqueue', '--unique', 'report', 'echo ran >>traces'])),
  );
  expect(results.filter(({ code }) => code !== 0)).toEqual([]);
  expect(new Set(results.map((result) => result.stdout)).size).toBe(1);
  await box.run(['worker', 'start', '--drain']);
  expect(lines(join(box.directory, 'traces'))).toEqual(['ran']);
  expect(await box.json(['list'])).toHaveLength(1);
});

test('enqueue --json marks an existing job, and a unique key is free again when its job has ended', async (box) => {
  const first = await box.json<JobJson>(['enqueue', '--unique', 'k', '--id', 'one', 'exit 0']);
  expect(first).toMatchObject({ id: 'one', unique_key: 'k' });
  expect(first).not.toHaveProperty('existing');
  expect(await box.json(['enqueue', '--unique', 'k', '--id', 'two', 'exit 0'])).toMatchObject({
    id: 'one',
    existing: true,
  });
  await box.startWorkers();
  await untilState(box, 'one', 'completed');
  expect(await box.json(['enqueue', '--unique', 'k', '--id', 'two', 'exit 0'])).toMatchObject({
    id: 'two',
  });
});

test('contradictory or invalid flags for unique jobs are refused and add nothing', async (box) => {
  for (const flags of [
    ['--unique-for', '1h'],
    ['--unique-while', 'pending'],
    ['--unique', 'k', '--unique-for', '1h', '--unique-while', 'active'],
    ['--unique', 'k', '--unique-while', 'sometimes'],
    ['--unique', ''],
    ['--unique', 'k', '--unique-for', 'soon'],
  ]) {
    expect({ flags, code: (await box.run(['enqueue', ...flags, 'true'])).code }).toEqual({
      flags,
      code: 2,
    });
  }
  expect(await box.json(['list'])).toEqual([]);
});

test('a job reserves its unique key again when it is retried, and is not retried while another job holds the key', async (box) => {
  const add = (id: string) => box.json(['enqueue', '--unique', 'k', '--id', id, 'exit 3', '-r', '1']);
  await add('a');
  await box.run(['worker', 'start', '--drain']);
  await add('b');
  for (const retry of [['retry'], ['dlq', 'retry']]) {
    expectRefusal(
      await box.run([...retry, 'a']),
      4,
      /job 'a' cannot reserve the unique key again, because job 'b' holds it/,
    );
  }
  expectRefusal(await box.run(['dlq', 'retry', '--all']), 4, /job 'b' holds it/);
  await box.json(['enqueue', '--id', 'other', 'exit 3', '-r', '1']);
  await box.run(['worker', 'start', '--drain']);
  await add('c');
  const all = await box.run(['dlq', 'retry', '--all']);
  expect(all).toMatchObject({
    code: 7,
    stdout: 'other\n',
    stderr: expect.stringMatching(/2 .*job 'c' holds it/),
  });
  expect(await box.run(['retry', 'a', 'b'])).toMatchObject({ code: 4, stdout: '' });
  await box.run(['cancel', 'c']);
  expect(await box.json(['retry', 'a'])).toEqual({ retried: ['a'], unchanged: [] });
  expect(await add('d')).toMatchObject({ id: 'a', existing: true });
});
