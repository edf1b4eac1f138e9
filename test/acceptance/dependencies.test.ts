import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JobJson, lines, type Sandbox, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** Writes a file of JSON lines and returns its path. */
const writeJobFile = (box: Sandbox, jobs: object[]): string => {
  const file = join(box.directory, 'jobs.jsonl');
  writeFileSync(file, jobs.map((job) => `${JSON.stringify(job)}\n`).join(''));
  return file;
};

const tracingJob = (id: string, fields = {}): object => ({ id, command: `echo ${id} >>traces`, ...fields });

test('four workers run a diamond of dependencies in order, although the file lists the jobs in reverse', async (box) => {
  const file = writeJobFile(box, [
    tracingJob('d', { depends_on: ['b', 'c'] }),
    tracingJob('b', { depends_on: ['a'] }),
    tracingJob('c', { depends_on: [{ id: 'a', on: 'any' }] }),
    tracingJob('a'),
  ]);
  expect((await box.run(['enqueue', '--file', file])).stdout).toBe('d\nb\nc\na\n');
  expect(await box.json(['show', 'c'])).toMatchObject({
    state: 'pending',
    next_run_at: null,
    depends_on: [{ id: 'a', on: 'any' }],
    on_parent_failure: null,
  });
  expect((await box.run(['worker', 'start', '--count', '4', '--drain'])).code).toBe(0);
  const order = lines(join(box.directory, 'traces'));
  expect([order[0], order.slice(1, 3).toSorted(), order[3]]).toEqual(['a', ['b', 'c'], 'd']);
});

test('a chain of 1,000 jobs runs in order', async (box) => {
  const names = Array.from({ length: 1000 }, (_, i) => `link${i}`);
  const chain = names.map((name, i) => tracingJob(name, i === 0 ? {} : { depends_on: [names[i - 1]] }));
  await box.run(['enqueue', '--file', writeJobFile(box, chain.toReversed())]);
  expect((await box.run(['worker', 'start', '--count', '2', '--drain'])).code).toBe(0);
  expect(lines(join(box.directory, 'traces'))).toEqual(names);
});

test('idle worker processes wake up for the jobs that a finished job unblocks', async (box) => {
  await box.run(['config', 'set', 'poll-interval', '1h']);
  await box.startWorkers('--count', '3');
  await box.run(['enqueue', '--id', 'first', 'until test -e go; do sleep 0.02; done']);
  const meet = 'echo x >>met; until test "$(wc -l <met)" -ge 3; do sleep 0.02; done';
  for (const id of ['x', 'y', 'z']) await box.run(['enqueue', '--id', id, '--after', 'first', meet]);
  writeFileSync(join(box.directory, 'go'), '');
  // Each job waits for the other two, so they end only if all three run at the same time.
  for (const id of ['x', 'y', 'z']) await untilState(box, id, 'completed');
});

test('a failed parent cancels, holds or runs its children, and commands show the reason', async (box) => {
  await box.run(['enqueue', '--id', 'parent', '--max-retries', '1', 'exit 3']);
  await box.run(['enqueue', '--id', 'child', '--after', 'par', 'echo child >>traces']);
  await box.run(['enqueue', '--id', 'grandchild', '--after', '@last', 'echo grandchild >>traces']);
  for (const policy of ['hold', 'run', 'cancel']) {
    await box.run([
      'enqueue',
      '--id',
      policy,
      '--after',
      'parent',
      '--on-parent-failure',
      policy,
      `echo ${policy} >>traces`,
    ]);
  }
  await box.run(['enqueue', '--id', 'sorry', '--after', 'notok:parent', 'echo sorry >>traces']);
  expect((await box.run(['explain', 'child'])).stdout).toContain(
    'the job is waiting for job parent to complete (currently pending)',
  );
  const drained = await box.run(['worker', 'start', '--drain']);
  expect(drained.stderr).toContain('1 job remains (due later, held, blocked or in a paused queue): hold');
  expect(lines(join(box.directory, 'traces')).toSorted()).toEqual(['run', 'sorry']);
  const cancelledJobs = await box.json<JobJson[]>(['list', '--state', 'cancelled']);
  expect(Object.fromEntries(cancelledJobs.map((job) => [job.id, job.last_error]))).toEqual({
    child: "parent job 'parent' is dead",
    cancel: "parent job 'parent' is dead",
    grandchild: "parent job 'child' was cancelled",
  });
  const late = await box.json<JobJson>(['enqueue', '--after', 'parent', 'echo late >>traces']);
  expect(late).toMatchObject({ state: 'cancelled', exit_code: null });
  const retried = await box.run(['dlq', 'retry', 'parent']);
  expect(retried).toMatchObject({ code: 0, stdout: 'parent\n' });
  expect(retried.stderr).toContain('4 dependent jobs stay cancelled; to retry them: queuectl retry');
});

test('cancel lists the cancelled descendants, and retry lists parents that a job no longer waits for', async (box) => {
  await box.run(['enqueue', '--id', 'a', '--delay', '1h', 'true']);
  await box.run(['enqueue', '--id', 'b', '--after', 'a', 'true']);
  expect((await box.run(['cancel', 'a'])).stderr).toContain('also cancelled 1 dependent job: b');
  await box.run(['retry', 'a', 'b']);
  await box.run(['enqueue', '--id', 'c', '--after', 'b', 'true']);
  expect((await box.run(['cancel', 'a'])).stderr).toContain('also cancelled 2 dependent jobs: b c');
  expect((await box.run(['retry', 'b'])).stderr).toContain('job b no longer waits for a (cancelled)');
});

test('deleting a parent cancels its children, whatever result of the parent they wait for', async (box) => {
  await box.run(['enqueue', '--id', 'parent', '--delay', '1h', 'true']);
  for (const on of ['ok', 'any', 'notok'])
    await box.run(['enqueue', '--id', on, '--after', `${on}:parent`, 'echo ran >>traces']);
  await box.run(['delete', 'parent']);
  await box.run(['worker', 'start', '--drain']);
  expect((await box.json<JobJson[]>(['list'])).map((job) => job.state)).toEqual(Array(3).fill('cancelled'));
  expect((await box.run(['explain', 'any'])).stdout).toContain("parent job 'parent' was deleted");
});

test('a child runs after its parent although the worker of the parent was killed', async (box) => {
  const workers = await box.startWorkers();
  await box.run(['enqueue', '--id', 'parent', 'echo parent >>traces; until test -e go; do sleep 0.02; done']);
  await box.run(['enqueue', '--id', 'child', '--after', 'parent', 'echo child >>traces']);
  await untilState(box, 'parent', 'processing');
  process.kill(-workers.pid, 'SIGKILL');
  await workers.exit;
  writeFileSync(join(box.directory, 'go'), '');
  expect((await box.run(['worker', 'start', '--drain'])).code).toBe(0);
  expect(lines(join(box.directory, 'traces'))).toEqual(['parent', 'child']);
});

test('impossible dependencies are refused, and nothing is added', async (box) => {
  await box.run(['enqueue', '--id', 'there', '--delay', '1h', 'true']);
  const circle = JSON.stringify([
    { id: 'p', command: 'true', depends_on: ['q'] },
    { id: 'q', command: 'true', depends_on: ['p'] },
  ]);
  const rows: [args: string[], code: number, message: string][] = [
    [['--after', 'nobody', 'true'], 3, "there is no job 'nobody'"],
    [['{"command":"true","depends_on":["nobody"]}'], 3, "depends on 'nobody', which does not exist"],
    [['{"id":"self","command":"true","depends_on":["self"]}'], 2, "job 'self' cannot depend on itself"],
    [[circle], 2, "circular dependency: 'p' -> 'q' -> 'p'"],
    [['--after', 'there,', 'true'], 2, '--after: an id is missing'],
    [['--after', 'ok:', 'true'], 2, '--after: an id is missing'],
    [['--after', 'there,notok:the', 'true'], 2, "lists 'there' twice"],
    [['--after', 'there', '--on-parent-failure', 'explode', 'true'], 2, 'must be one of cancel, hold, run'],
    [['{"command":"true","depends_on":[5]}'], 2, 'depends_on must contain job ids'],
    [
      ['{"command":"true","depends_on":[{"id":"there","on":"maybe"}]}'],
      2,
      'on must be one of ok, any, notok',
    ],
    [['{"command":"true","depends_on":[{"id":"there","when":"ok"}]}'], 2, "unknown field 'when'"],
  ];
  for (const [args, code, message] of rows) {
    const result = await box.run(['enqueue', ...args]);
    expect({ args, code: result.code, stderr: result.stderr }).toEqual({
      args,
      code,
      stderr: expect.stringContaining(message),
    });
  }
  expect(await box.json(['list'])).toHaveLength(1);
});

test('the flag --on-parent-failure requires parents, but the field on_parent_failure does not', async (box) => {
  const hold = ['--on-parent-failure', 'hold'];
  expectRefusal(await box.run(['enqueue', ...hold, 'true']), 2, /--on-parent-failure requires --after/);
  expect(await box.json(['list'])).toEqual([]);
  await box.json(['enqueue', '{"id":"a","command":"true","on_parent_failure":"hold"}']);
  await box.json(['enqueue', ...hold, '{"command":"true","depends_on":["a"]}']);
  await box.json(['enqueue', ...hold, '--after', 'a', 'true']);
  expect(await box.json(['list'])).toHaveLength(3);
});
