import { expect } from 'bun:test';
import { join } from 'node:path';
import { type JobJson, lines, type Sandbox } from '../support/queuectl.ts';
import { seededRandom } from '../support/random.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

const KEY_FLAGS = ['--idempotency-key', 'k'];
/** Returns the ids of all jobs, oldest first. */
const jobIds = async (box: Sandbox) => (await box.json<JobJson[]>(['list'])).map((job) => job.id).reverse();

test('twenty parallel enqueues with one key add one job, which runs once, and all print its id', async (box) => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      box.run(['enqueue', ...KEY_FLAGS, '--delay', '0s', 'echo ran >>traces']),
    ),
  );
  expect(answers.map((answer) => answer.code)).toEqual(Array(20).fill(0));
  expect(new Set(answers.map((answer) => answer.stdout)).size).toBe(1);
  await box.run(['worker', 'start', '--drain']);
  // A repetition prints the same id even after the job has ended.
  expect((await box.run(['enqueue', ...KEY_FLAGS, '--delay', '0s', 'echo ran >>traces'])).stdout).toBe(
    answers[0]!.stdout,
  );
  await box.run(['worker', 'start', '--drain']);
  expect(lines(join(box.directory, 'traces'))).toEqual(['ran']);
});

test('an enqueue that is killed at a random moment and repeated adds its jobs once, in thirty rounds', async (box) => {
  const random = seededRandom('idempotency');
  const jobs = Array.from({ length: 3 }, (_, i) => `echo {}-${i} >>traces`).join('\n');
  await box.run(['enqueue', 'true']);
  const startedAt = performance.now();
  await box.run(['enqueue', 'true']);
  const enqueueMs = performance.now() - startedAt;
  let killCount = 0;
  for (let round = 0; round < 30; round++) {
    const args = ['enqueue', '--idempotency-key', `round ${round}`, '--delay', '1h', '--file', '-'];
    const stdin = jobs.replaceAll('{}', String(round));
    const first = box.start(args, { stdin });
    // The kills are spread evenly over 1.3 times the duration of one enqueue.
    await new Promise((done) => setTimeout(done, ((round + random()) / 30) * enqueueMs * 1.3));
    first.child.kill('SIGKILL');
    if ((await first.exit) !== 0) killCount++;
    const again = await box.run(args, { stdin });
    expect({ round, code: again.code, ids: again.stdout.split('\n').length }).toEqual({
      round,
      code: 0,
      ids: 4,
    });
    // Ids that were printed before the kill are printed again.
    expect(again.stdout).toStartWith(first.stdout());
  }
  expect(killCount).toBeGreaterThan(0);
  const pendingJobs = await box.json<JobJson[]>(['list', '--state', 'pending']);
  const commands = pendingJobs.map((job) => job.command).filter((command) => command !== 'true');
  expect(commands.length).toBe(90);
  expect(new Set(commands).size).toBe(90);
});

test('repeating an enqueue with its key returns the same job, and a different enqueue with that key is refused', async (box) => {
  const first = await box.json<JobJson>(['enqueue', ...KEY_FLAGS, '--delay', '1h', '--tag', 'a=b', 'true']);
  expect(first).not.toHaveProperty('existing');
  const again = await box.run(['enqueue', ...KEY_FLAGS, '--tag', 'a=b', '--delay', '60m', 'true', '--json'], {
    cwd: '/',
  });
  expect(JSON.parse(again.stdout)).toMatchObject({ ...first, existing: true });
  const asJson = { command: 'true', idempotency_key: 'k', delay: 3600, tags: { a: 'b' } };
  expect(await box.json(['enqueue', JSON.stringify(asJson)])).toMatchObject({
    id: first.id,
    existing: true,
  });
  for (const other of [
    ['--delay', '1h', '--tag', 'a=b', 'false'],
    ['--delay', '2h', '--tag', 'a=b', 'true'],
    ['--delay', '1h', '--tag', 'a=b', '--id', 'mine', 'true'],
    ['true'],
    [JSON.stringify([asJson, asJson])],
  ]) {
    const flags = other[0]!.startsWith('[') ? [] : KEY_FLAGS;
    expectRefusal(
      await box.run(['enqueue', ...flags, ...other]),
      4,
      /key 'k' was already used for a different request/,
    );
  }
  expect(await jobIds(box)).toEqual([first.id]);
  const job = await box.json<JobJson>(['show', first.id]);
  expect(job).toMatchObject({ state: 'pending', command: 'true' });
});

test('a key covers a whole file or array, and a repetition prints the same ids in the same order', async (box) => {
  const fileArgs = ['enqueue', ...KEY_FLAGS, '--file', '-'];
  const stdin = Array.from({ length: 120 }, (_, i) => `echo ${i}`).join('\n');
  const first = await box.run(fileArgs, { stdin });
  expect(await box.run(fileArgs, { stdin })).toEqual(first);
  const objects = JSON.parse((await box.run([...fileArgs, '--json'], { stdin })).stdout);
  expect(objects).toHaveLength(120);
  expect(objects.every((job: { existing?: true }) => job.existing)).toBe(true);
  expectRefusal(await box.run(fileArgs, { stdin: `${stdin}\necho more` }), 4, /a different request/);

  const arrayArgs = ['enqueue', '--idempotency-key', 'array', '[{"command":"a"},{"command":"b"}]'];
  const added = await box.json<JobJson[]>(arrayArgs);
  expect(await box.json(arrayArgs)).toEqual(added.map((job) => ({ ...job, existing: true })));
  expect(await jobIds(box)).toEqual([...first.stdout.trimEnd().split('\n'), ...added.map((job) => job.id)]);
});

test('run and --wait follow the existing job of the key', async (box) => {
  await box.startWorkers();
  const command = 'echo once | tee -a traces; exit 3';
  for (const verb of [['run'], ['run'], ['enqueue', '--wait']]) {
    const { code, stdout } = await box.run([...verb, ...KEY_FLAGS, '--max-retries', '1', command]);
    expect(code).toBe(3);
    if (verb[0] === 'run') expect(stdout).toBe('once\n');
  }
  expect(lines(join(box.directory, 'traces'))).toEqual(['once']);
});

test('invalid keys are refused and add nothing', async (box) => {
  for (const [key, message] of [
    ['', /must not be empty/],
    ['  ', /must not be empty/],
    ['x'.repeat(256), /at most 255 characters/],
    ['a\nb', /control/],
    ['a\u202eb', /control/],
    [' a', /space/],
  ] as const) {
    expectRefusal(await box.run(['enqueue', '--idempotency-key', key, 'true']), 2, message);
    const job = JSON.stringify({ command: 'true', idempotency_key: key });
    expectRefusal(await box.run(['enqueue', job]), 2, message);
  }
  expectRefusal(await box.run(['enqueue', '{"command":"true","idempotency_key":7}']), 2, /must be a string/);
  const twoJobs = [{ command: 'a', idempotency_key: '1' }, { command: 'b' }];
  for (const jobs of [twoJobs, [...twoJobs].reverse()])
    expectRefusal(await box.run(['enqueue', JSON.stringify(jobs)]), 2, /the same idempotency_key/);
  expectRefusal(
    await box.run(['enqueue', ...KEY_FLAGS, JSON.stringify(twoJobs[0])]),
    2,
    /both set idempotency_key/,
  );
  const scheduleArgs = ['schedule', 'add', 's', '--every', '1h'];
  expectRefusal(
    await box.run([...scheduleArgs, JSON.stringify(twoJobs[0])]),
    2,
    /cannot have an id, a run time or a unique key/,
  );
  expectRefusal(await box.run([...scheduleArgs, ...KEY_FLAGS, 'true']), 2, /unknown flag/);
  expect(await jobIds(box)).toEqual([]);
  const longest = await box.run(['enqueue', '--idempotency-key', '€'.repeat(255), 'true']);
  expect(longest).toMatchObject({ code: 0, stderr: '' });
});

test('a repeated enqueue prints the id of a job that retention has removed, and does not run it again', async (box) => {
  const jobArgs = ['enqueue', ...KEY_FLAGS, 'echo ran >>traces'];
  const id = (await box.run(jobArgs)).stdout.trim();
  const fileArgs = ['enqueue', '--idempotency-key', 'f', '-r', '1', '--file', '-'];
  const ids = (await box.run(fileArgs, { stdin: 'true\nexit 3\n' })).stdout;
  await box.run(['worker', 'start', '--drain']);
  await box.run(['config', 'set', 'keep-completed', '0']);
  await box.run(['prune']);
  expect(await box.run(jobArgs)).toMatchObject({ code: 0, stdout: `${id}\n`, stderr: '' });
  expect(await box.json<unknown>(jobArgs)).toEqual({ id, existing: true, gone: true });
  expect(await box.run(fileArgs, { stdin: 'true\nexit 3\n' })).toMatchObject({ code: 0, stdout: ids });
  const objects = await box.run([...fileArgs, '--json'], { stdin: 'true\nexit 3\n' });
  const [first, second] = ids.split('\n');
  expect(JSON.parse(objects.stdout)).toMatchObject([
    { id: first, existing: true, gone: true },
    { id: second, existing: true, state: 'dead' },
  ]);
  expectRefusal(await box.run([...jobArgs, '--wait']), 125, /has been removed/);
  expect(lines(join(box.directory, 'traces'))).toEqual(['ran']);
});
